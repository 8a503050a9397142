/**
 * The address of a stored path, for all `*_url` fields: absolute http(s) addresses and empty paths stay as they are.
 * `base` has no trailing slash.
 */
export const assetUrl = (path: string, base: string): string =>
  path === '' || /^https?:\/\//i.test(path) ? path : `${base}/${path.replace(/^\/+/, '')}`

/** A person with the address of the avatar. */
export const withAvatarUrl = <P extends { readonly avatar: string }>(person: P, base: string) => ({
  ...person,
  avatar_url: assetUrl(person.avatar, base),
})
