/** What browsers take for a step upwards: `..`, also encoded. */
const DOT_SEGMENT = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i

/** Where a page may lead after signing in: a path of the console, so that no link can lead elsewhere. */
export const isConsolePath = (path: string): boolean =>
  path.length <= 2_000 &&
  /^\/console(?:[/?]|$)/.test(path) &&
  !/\/\/|\\|[^\x21-\x7e]/.test(path) &&
  !DOT_SEGMENT.test(path)

/** `next` when it is a path of the console, and else its first page. */
export const nextPath = (next: string | undefined): string =>
  next !== undefined && isConsolePath(next) ? next : '/console'
