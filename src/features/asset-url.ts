/** The URL of a stored path. Absolute URLs and empty paths are returned unchanged; `base` has no trailing slash. */
export const assetUrl = (path: string, base: string): string =>
  path === '' || /^([a-z][0-9a-z+.-]*:|\/\/)/i.test(path) ? path : `${base}/${path.replace(/^\//, '')}`
