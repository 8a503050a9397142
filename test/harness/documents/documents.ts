import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** All documents of the repository, as paths from its root. */
export const documents: readonly string[] = [
  'README.md',
  ...['schema', 'scripts', 'sql', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

/** The path of a document in the file system. */
export const fileOf = (path: string): string => join(root, path)

export const readDocument = (path: string): string => readFileSync(fileOf(path), 'utf8')

/** A fenced block of code. */
export interface Block {
  /** The text after the fence, such as `sh` or `js browser`; may be empty. */
  readonly language: string
  readonly lines: readonly string[]
  /** Index of the first line. */
  readonly start: number
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^```(.*)$/.exec(lines[at] ?? '')
    if (fence === null) continue
    const end = lines.indexOf('```', at + 1)
    if (end < 0) throw new Error(`the block of line ${at + 1} has no end`)
    blocks.push({ language: fence[1] ?? '', lines: lines.slice(at + 1, end), start: at + 1 })
    at = end
  }
  return blocks
}

/** A command for a shell. */
export interface Command {
  readonly text: string
  /** The output in the document; null in a block without outputs. */
  readonly output: readonly string[] | null
  /** Index of the first line of the output. */
  readonly outputStart: number
}

/** In a block with prompts (`$ `) the lines after a command are its output; in others every line is a command. */
export function commandsOf(text: string): Command[] {
  return blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ lines, start }) => {
      const prompts = lines.some((line) => line.startsWith('$ '))
      const commands: { text: string; output: string[] | null; outputStart: number }[] = []
      let continues = false
      for (const [index, line] of lines.entries()) {
        const last = commands.at(-1)
        if (continues && last !== undefined) {
          last.text += `\n${line}`
          last.outputStart = start + index + 1
        } else if (prompts ? line.startsWith('$ ') : !/^\s*(#|$)/.test(line)) {
          const command = prompts ? line.slice(2) : line
          commands.push({ text: command, output: prompts ? [] : null, outputStart: start + index + 1 })
        } else {
          last?.output?.push(line)
          continue
        }
        continues = line.endsWith('\\')
      }
      return commands
    })
}
