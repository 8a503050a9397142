/**
 * So many of a list's points, evenly spread and ending with the last one; `count` is at most their number. In whole numbers,
 * as 100 times 1.1 is more than 110 and the last point would be missed.
 */
export const choosePoints = <Point>(points: readonly Point[], count: number): Point[] =>
  points.filter((_, i) => Math.floor((i * count) / points.length) < Math.floor(((i + 1) * count) / points.length))
