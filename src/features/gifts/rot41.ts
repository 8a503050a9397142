const FIRST = 33 // !
const COUNT = 94 // up to ~
const PLACES = 41

/** Moves every character from `!` to `~` 41 places forward, wrapping round; all others stay. */
export const rot41 = (text: string): string =>
  text.replace(/[!-~]/g, (character) =>
    String.fromCharCode(((character.charCodeAt(0) - FIRST + PLACES) % COUNT) + FIRST),
  )
