import { extname } from 'node:path'

/** The files that are served, by the ending of their name in lower case, with their media types. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['svg', 'image/svg+xml; charset=utf-8'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
])

/** The media type of a file by its name; undefined for a file that is not served. */
export const mediaTypeOf = (name: string): string | undefined => mediaTypes.get(extname(name).slice(1).toLowerCase())
