import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorCode } from './error-code.ts'

/**
 * The text of a file that a command line was given with a flag. Throws with a message for people, which names the flag
 * and the whole path, as npm runs commands in the folder of package.json.
 */
export function readInputFile(flag: string, path: string): string {
  const file = resolve(path)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw new Error(`${flag}: there is no file ${file}.`, { cause: error })
    throw new Error(`${flag}: ${file} cannot be read (${code ?? String(error)}).`, { cause: error })
  }
}
