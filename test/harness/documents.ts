import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** All documents of the repository, as paths from its root. */
export const documents: readonly string[] = [
  'README.md',
  ...['schema', 'scripts', 'sql', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

export const readDocument = (path: string): string => readFileSync(join(root, path), 'utf8')

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

/** What differs from run to run, and what it is replaced with to compare outputs. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/[\w+/]{43,}={1,2}/g, '<base64>'],
  [/\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?Z?)?/g, '<time>'],
  [/\bg-(\d+)-[0-9a-z]{10}\b/g, 'g-$1-<uid>'],
  [/\bin [\d.,]+ (ms|s)\b/g, 'in <time>'],
  // Who wins a roulette is chance.
  [/(\| game:\d+:coins +\| )user:\d+/g, '$1<winner>'],
]

/** Whether the output is what the document shows, where a line `…` stands for whatever follows. */
export function isShown(shown: readonly string[], output: string): boolean {
  const isCut = shown.at(-1) === '…'
  const expected = comparable((isCut ? shown.slice(0, -1) : shown).join('\n'))
  const actual = comparable(output)
  return isCut ? `${actual}\n`.startsWith(`${expected}\n`) : actual === expected
}

/** An output without what differs from run to run. */
export function comparable(output: string): string {
  const text = VOLATILE.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), output.trimEnd())
  // Of a game, whose winner is chance, the answers have to have the same fields.
  return text.includes('"server_seed":') ? JSON.stringify(shapeOf(JSON.parse(text))) : text
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}

interface Test {
  teardown(work: () => Promise<void>): void
}

export interface Shell {
  /** Runs a command after those before it, and answers what it printed and how it ended. */
  run(command: string): Promise<{ readonly output: string; readonly code: number }>
}

/** A shell as a reader has it: variables and functions stay from command to command. It ends with the test. */
export function openShell(t: Test, folder: string, environment: Readonly<Record<string, string>>): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', LANG: 'C.UTF-8', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const END = '--- end of command ---'
  return {
    async run(command) {
      child.stdin.write(`{ ${command}\n} < /dev/null 2>&1; printf '\\n%s %s\\n' '${END}' $?\n`)
      const output: string[] = []
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`the shell ended in: ${command}`)
        if (value.startsWith(END)) return { output: output.join('\n'), code: Number(value.slice(END.length)) }
        output.push(value)
      }
    },
  }
}

/** A folder that looks like this checkout, in which commands may leave files. */
export function checkoutIn(parent: string): string {
  const folder = mkdtempSync(join(parent, 'checkout-'))
  for (const entry of ['node_modules', 'package.json', 'schema', 'scripts', 'sql', 'src', 'test']) {
    symlinkSync(join(root, entry), join(folder, entry))
  }
  return folder
}
