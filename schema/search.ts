import { Text } from './common.ts'

/** The word of a search for users or rooms; every character is meant literally. */
export const SearchWord = {
  ...Text(64),
  minLength: 1,
  description:
    'a uid, or the beginning of a name; 1 to 64 characters, by folded letters (`İ` is `i`, `ß` is `ss`). A single character finds a uid only',
}

const MIN_NAME_CHARACTERS = 2

/** Whether a word is long enough to be looked for in names; a shorter one is a uid only. */
export const isNameWord = (word: string): boolean => Array.from(word).length >= MIN_NAME_CHARACTERS
