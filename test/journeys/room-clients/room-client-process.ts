import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { blocksOf, fileOf, readDocument } from '../../harness/documents/documents.ts'
import { until } from '../../harness/until.ts'
import { kotlinClient, kotlinIsMissing } from './kotlin-client.ts'

type Test = Parameters<typeof temporaryFolder>[0]

const CLIENTS = 'src/realtime/clients'

type ClientKind = 'browser' | 'node' | 'kotlin'

/** The clients that can be in the background. */
export const clientsOfApps = [
  { kind: 'browser', skip: false },
  { kind: 'kotlin', skip: kotlinIsMissing },
] as const

/** What a client printed: a received event, or what else it was told of a channel. */
interface Line {
  /** Empty when it concerns no channel. */
  readonly channel: string
  /** The name of an event, `state`, `reload`, `stopped`, `token` when it is asked for, or the code of a refusal. */
  readonly what: string
  readonly data: unknown
}

/** A documented client in a process of its own. */
export interface RoomClientProcess {
  readonly lines: readonly Line[]
  /** Events of a channel, with their data. */
  eventsOf(channel: string): Pick<Line, 'what' | 'data'>[]
  /** Puts the app in the background, and resolves when the client has been told. Not for Node.js, which has none. */
  hide(): Promise<void>
  show(): void
  /** Subscribes to further rooms. Not for Node.js. */
  join(rooms: readonly string[]): void
  /** Stops the process as a phone does with an app in the background. */
  suspend(): void
  wake(): void
}

interface ClientOptions {
  readonly url: string
  readonly token: string
  readonly rooms: readonly string[]
  /**
   * JavaScript only: makes delays so many times as short and random numbers 0.5, and prints each timer as `timer` and each
   * connection as `open`.
   */
  readonly speed?: number
  /** With `speed`: how long the connect timeout takes, by default 15 s as ever. */
  readonly connectMs?: number
}

/** The code of the document for this kind of client. */
function documentedCode(kind: ClientKind): string {
  const language = kind === 'kotlin' ? kind : `js ${kind}`
  const block = blocksOf(readDocument(`${CLIENTS}/README.md`)).find((block) => block.language === language)
  if (block === undefined) throw new Error(`${CLIENTS}/README.md shows no ${language}`)
  return block.lines.join('\n')
}

/** Makes the client's delays shorter and known. The watchdog stays as it is: two heartbeats of a second, or of more. */
const withSpeed = (client: string, speed: number, connectMs: number): string => `
const print = (...words) => console.log('', ...words)
const Math = { min: globalThis.Math.min, random: () => 0.5 }
const setTimeout = (action, ms) => {
  print('timer', JSON.stringify({ ms }))
  const passing = ms === 15_000 ? ${connectMs} : ms === 2_200 || ms > 30_000 ? ms : ms / ${speed}
  return globalThis.setTimeout(action, passing)
}
class WebSocket extends globalThis.WebSocket {
  constructor(url) {
    print('open')
    super(url)
  }
}
${client}`

/** What stands around the documented code in a page; `hide`, `show` and `join` come on standard input. */
const page = (code: string): string => `
import { createInterface } from 'node:readline'

const [url, ...rooms] = process.argv.slice(2)
const print = (...words) => console.log(words.join(' '))
const document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
createInterface(process.stdin).on('line', (line) => {
  if (line.startsWith('join ')) return line.split(' ').slice(1).forEach((room) => client.subscribe(\`one-to-room:\${room}\`))
  document.visibilityState = line === 'show' ? 'visible' : 'hidden'
  document.dispatchEvent(new Event('visibilitychange'))
  print('', line)
})
const token = async (isExpired) => {
  print('', 'token')
  return isExpired ? 'second' : process.env.TOKEN
}
const onEvent = ({ ch, event, data }) => print(ch, event, JSON.stringify(data))
const onState = (ch, state) => print(ch, 'state', JSON.stringify(state))
const onReload = (ch) => print(ch, 'reload')
const onRefused = ({ ch, code }) => print(ch, code)
const onStopped = (code) => print('', 'stopped', JSON.stringify({ code }))
${code.replaceAll(/^client\.subscribe.*\n/gm, '')}
for (const room of rooms) client.subscribe(\`one-to-room:\${room}\`)
`

/** The command that runs a client. */
function prepare(
  kind: ClientKind,
  folder: string,
  { speed, connectMs = 15_000 }: ClientOptions,
): readonly [program: string, args: readonly string[]] {
  if (kind === 'kotlin') return kotlinClient(documentedCode(kind))
  const client = readFileSync(fileOf(`${CLIENTS}/room-client.js`), 'utf8')
  writeFileSync(join(folder, 'room-client.js'), speed === undefined ? client : withSpeed(client, speed, connectMs))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const file = join(folder, `${kind}.js`)
  writeFileSync(file, kind === 'browser' ? page(documentedCode(kind)) : documentedCode(kind))
  return [process.execPath, [file]]
}

export function startRoomClient(t: Test, kind: ClientKind, options: ClientOptions): RoomClientProcess {
  const { url, token, rooms } = options
  const [program, args] = prepare(kind, temporaryFolder(t), options)
  const child = spawn(program, [...args, url, ...rooms], {
    env: { PATH: process.env['PATH'] ?? '', TOKEN: token },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const lines: Line[] = []
  createInterface(child.stdout).on('line', (line) => {
    const [channel = '', what = '', ...json] = line.split(' ')
    lines.push({ channel, what, data: json.length === 0 ? null : JSON.parse(json.join(' ')) })
  })
  const count = (what: string): number => lines.filter((line) => line.what === what).length
  return {
    lines,
    eventsOf: (channel) =>
      lines
        .filter((line) => line.channel === channel && !['state', 'reload'].includes(line.what))
        .map(({ what, data }) => ({ what, data })),
    hide: async () => {
      const before = count('hide')
      child.stdin.write('hide\n')
      await until(() => count('hide') > before)
    },
    show: () => void child.stdin.write('show\n'),
    join: (rooms) => void child.stdin.write(`join ${rooms.join(' ')}\n`),
    suspend: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
  }
}
