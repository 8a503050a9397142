import type { Cause, Command } from '../ledger/executor/command.ts'
import type { CommandResult } from '../ledger/executor/command-queue.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { Closed, Overloaded, Unavailable } from '../ledger/executor/failures.ts'
import type { ForwardedCommand, WriterLink } from './writer-link.ts'

/** Waits until this instance has applied all events up to a position; false when that takes too long. */
export type CatchUp = (position: number) => Promise<boolean>

type RouterExecutor = Pick<Executor, 'run' | 'waitForInFlight' | 'stalledMs'>

/**
 * Runs commands: on the writer while there is a link to it, else on this instance's own executor, which is right on any
 * instance, and slower while others write too.
 */
export class CommandRouter implements RouterExecutor {
  readonly #own: RouterExecutor
  readonly #catchUp: CatchUp
  #link: WriterLink | undefined
  #isCut = false
  /** The link, and former ones whose last answers have yet to arrive. */
  readonly #links = new Set<WriterLink>()
  #forwarded = 0
  #lost = 0

  constructor(own: RouterExecutor, catchUp: CatchUp) {
    this.#own = own
    this.#catchUp = catchUp
  }

  /** Commands that were sent to the writer. */
  get forwarded(): number {
    return this.#forwarded
  }

  /** Commands whose answer was lost with the writer. */
  get lost(): number {
    return this.#lost
  }

  /** Sends commands there, until the link ends. After `cut` the link is dropped. */
  use(link: WriterLink): void {
    if (this.#isCut) {
      link.cut()
      return
    }
    this.#link = link
    this.#links.add(link)
    void link.closed.then(() => this.#links.delete(link))
  }

  /** Drops all links, for good: from now on this instance writes itself. */
  async cut(): Promise<void> {
    this.#isCut = true
    this.#link = undefined
    const links = [...this.#links]
    for (const link of links) link.cut()
    await Promise.all(links.map(({ closed }) => closed))
  }

  /** As `Executor.run`; a command that was done before is answered once this instance has applied it, if it can. */
  async run(command: Command): Promise<CommandResult> {
    const result = await this.#send(command)
    if (result.isRepeat) await this.#catchUp(result.position)
    return result
  }

  #send(command: Command): Promise<CommandResult> {
    const link = this.#link
    if (link?.isReady !== true || command.call === null) return this.#own.run(command)
    this.#forwarded += 1
    return link.run(command)
  }

  /** As `Executor.stalledMs`, of commands that wait here or for the writer. */
  get stalledMs(): number {
    return Math.max(this.#own.stalledMs, ...Array.from(this.#links, (link) => link.stalledMs))
  }

  async waitForInFlight(): Promise<void> {
    await Promise.all([this.#own.waitForInFlight(), ...[...this.#links].map((link) => link.waitForAnswers())])
  }

  /** The writer has not run it. */
  readonly runAgain = ({ command, resolve }: ForwardedCommand): void => resolve(this.run(command))

  /**
   * The writer may have run it, or may yet. With an idempotency key it is run again: whichever comes second finds the
   * reply that the first has stored. Without one only its caller can tell whether to repeat it.
   */
  readonly settleLost = ({ command, resolve, reject }: ForwardedCommand): void => {
    this.#lost += 1
    if (command.cause.idempotency === null) {
      reject(new Unavailable('the writer was lost, and with it the outcome of the command'))
    } else resolve(this.#rerun(command, command.cause.idempotency))
  }

  async #rerun(command: Command, idempotency: NonNullable<Cause['idempotency']>): Promise<CommandResult> {
    // The reply is stored whatever it is: a refusal must also bind a writer that runs the command later.
    const cause = { ...command.cause, idempotency: { ...idempotency, discardRefusal: false } }
    let result: CommandResult
    try {
      result = await this.#send({ ...command, cause })
    } catch (error) {
      // Nothing was done this time, which says nothing of the first.
      if (error instanceof Overloaded || error instanceof Closed || error instanceof Unavailable) {
        throw new Unavailable('the outcome of the command is unknown', { cause: error })
      }
      throw error
    }
    // What the writer shared of it was lost with the answer.
    if (result.isRepeat && !(await this.#catchUp(result.position))) {
      throw new Unavailable('the command was done, and this instance is far behind')
    }
    return result
  }
}
