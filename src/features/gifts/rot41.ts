const FIRST = 33 // !
const COUNT = 94 // up to ~
const PLACES = 41

/** Shifts each character from `!` to `~` 41 places forward, wrapping around; other characters stay. */
export const rot41 = (text: string): string =>
  text.replace(/[!-~]/g, (character) =>
    String.fromCharCode(((character.charCodeAt(0) - FIRST + PLACES) % COUNT) + FIRST),
  )
