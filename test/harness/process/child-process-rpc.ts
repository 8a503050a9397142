import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Answer = Type.Union([Type.Object({ answer: Type.Unknown() }), Type.Object({ error: Type.String() })])

/** Called in the process of a `HelperProcess`: runs its jobs, and ends when its parent does. */
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

/** A child process that runs jobs. */
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

  /** Runs a job; only one at a time. Throws when it fails or the process ends. */
  async call<A extends TSchema>(job: object, schema: A): Promise<Static<A>> {
    const done = new AbortController()
    try {
      const answered = once(this.#child, 'message', done)
      const ended = once(this.#child, 'exit', done).then(() => Promise.reject(new Error(`${this.#file} ended`)))
      this.#child.send(job)
      const [message]: unknown[] = await Promise.race([answered, ended])
      const answer = Value.Parse(Answer, message)
      if ('error' in answer) throw new Error(`${this.#file}: ${answer.error}`)
      return Value.Parse(schema, answer.answer)
    } finally {
      done.abort()
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
