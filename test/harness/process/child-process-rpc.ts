import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Answer = Type.Union([Type.Object({ answer: Type.Unknown() }), Type.Object({ error: Type.String() })])

/** In a process that was started as a `Helper`: answers its jobs one after the other, and ends with it. */
export function serve<J extends TSchema>(schema: J, work: (job: Static<J>) => Promise<unknown>): void {
  const answer = async (message: unknown): Promise<void> => {
    try {
      process.send?.({ answer: await work(Value.Parse(schema, message)) })
    } catch (error) {
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  }
  process.on('message', (message) => void answer(message))
  process.on('disconnect', () => process.exit())
}

/** A process that works for whoever started it. */
export class HelperProcess {
  readonly #child: ChildProcess
  readonly #file: string

  constructor(file: URL, environment: Readonly<Record<string, string>>) {
    this.#file = file.pathname
    this.#child = fork(fileURLToPath(file), [], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** One job at a time. Throws when it fails or the process ends. */
  async call<A extends TSchema>(job: object, schema: A): Promise<Static<A>> {
    const over = new AbortController()
    try {
      const heard = once(this.#child, 'message', over)
      const ended = once(this.#child, 'exit', over).then(() => Promise.reject(new Error(`${this.#file} ended`)))
      this.#child.send(job)
      const [message]: unknown[] = await Promise.race([heard, ended])
      const said = Value.Parse(Answer, message)
      if ('error' in said) throw new Error(`${this.#file}: ${said.error}`)
      return Value.Parse(schema, said.answer)
    } finally {
      over.abort()
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
