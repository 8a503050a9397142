import type { Command } from '../ledger/executor/command.ts'
import type { CommandResult } from '../ledger/executor/command-queue.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { Unavailable } from '../ledger/executor/failures.ts'
import type { ForwardedCommand, WriterLink } from './writer-link.ts'

type RouterExecutor = Pick<Executor, 'run' | 'waitForInFlight' | 'stalledMs'>

/**
 * Runs commands: on the writer while there is a link to it, else on this instance's own executor, which is right on any
 * instance, and slower while others write too.
 */
export class CommandRouter implements RouterExecutor {
  readonly #own: RouterExecutor
  #link: WriterLink | undefined
  /** The link, and former ones whose last answers have yet to arrive. */
  readonly #links = new Set<WriterLink>()
  #forwarded = 0
  #lost = 0

  constructor(own: RouterExecutor) {
    this.#own = own
  }

  /** Commands that were sent to the writer. */
  get forwarded(): number {
    return this.#forwarded
  }

  /** Commands whose answer was lost with the writer. */
  get lost(): number {
    return this.#lost
  }

  /** Sends commands there, until the link ends. */
  use(link: WriterLink): void {
    this.#link = link
    this.#links.add(link)
    void link.closed.then(() => this.#links.delete(link))
  }

  /** Drops all links: from now on this instance writes itself. */
  async cut(): Promise<void> {
    this.#link = undefined
    const links = [...this.#links]
    for (const link of links) link.cut()
    await Promise.all(links.map(({ closed }) => closed))
  }

  /** As `Executor.run`. */
  run(command: Command): Promise<CommandResult> {
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
  readonly settleLost = (forwarded: ForwardedCommand): void => {
    this.#lost += 1
    if (forwarded.command.cause.idempotency !== null) this.runAgain(forwarded)
    else forwarded.reject(new Unavailable('the writer was lost, and with it the outcome of the command'))
  }
}
