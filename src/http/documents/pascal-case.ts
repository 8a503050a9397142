/** `roulette-wheel-created` and `not_found_code` as names of types: `RouletteWheelCreated`, `NotFoundCode`. */
export const pascalCase = (words: string): string =>
  words.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
