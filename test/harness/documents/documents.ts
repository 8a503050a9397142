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
interface Block {
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

/** A block of commands for a shell, which can be pasted, and what they print. */
export interface Example {
  readonly commands: readonly string[]
  /** The `text` block right after the commands; null when there is none. */
  readonly output: readonly string[] | null
  /** Index of the first line of the output. */
  readonly outputStart: number
}

export function examplesOf(text: string): Example[] {
  const lines = text.split('\n')
  const blocks = blocksOf(text)
  return blocks.flatMap((block, i): Example[] => {
    if (block.language !== 'sh') return []
    const next = blocks[i + 1]
    const end = block.start + block.lines.length + 1
    const follows = next?.language === 'text' && lines.slice(end, next.start - 1).every((line) => line === '')
    return [
      {
        commands: commandsIn(block.lines),
        output: follows ? next.lines : null,
        outputStart: follows ? next.start : 0,
      },
    ]
  })
}

/** Every line is a command, a comment, or continues a command that ended with a backslash. */
function commandsIn(lines: readonly string[]): string[] {
  const commands: string[] = []
  let continues = false
  for (const line of lines) {
    if (continues) commands.push(`${commands.pop()}\n${line}`)
    else if (!/^\s*(#|$)/.test(line)) commands.push(line)
    continues = line.endsWith('\\')
  }
  return commands
}
