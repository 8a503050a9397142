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

/** Where a document is. */
export const fileOf = (path: string): string => join(root, path)

export const readDocument = (path: string): string => readFileSync(fileOf(path), 'utf8')

/** A fenced block of code. */
export interface Block {
  /** What follows the fence: `sh`, `js browser`; empty for none. */
  readonly language: string
  readonly lines: readonly string[]
  /** Of the first line, counted from 0. */
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
  /** What the document shows as its output; null where it shows none. */
  readonly output: readonly string[] | null
  /** Where that begins, counted from 0. */
  readonly outputStart: number
}

/** In a block with prompts (`$ `) the lines between them are output, in others every line is a command. */
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
