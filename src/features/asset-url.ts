/** The address of a stored path; an address stays as it is, and so does nothing. `base` has no slash at its end. */
export const assetUrl = (path: string, base: string): string =>
  path === '' || /^([a-z][0-9a-z+.-]*:|\/\/)/i.test(path) ? path : `${base}/${path.replace(/^\//, '')}`
