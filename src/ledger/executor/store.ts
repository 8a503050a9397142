import type { Micros } from '../rules/time.ts'
import type { Head, StoredReply } from '../storage/head.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import { assertCommitted } from './assert-committed.ts'
import { type Batch, replyKey } from './batch.ts'
import type { Command } from './command.ts'
import { DatabaseClock } from './database-clock.ts'
import { DuplicateIdempotencyKey, HeadConflict } from './failures.ts'
import { PendingLoads } from './pending-loads.ts'
import { PipelinedConnection, type StatementResult } from './pipelined-connection.ts'
import type { RecentKeyFilter } from './recent-key-filter.ts'
import { RowCache } from './row-cache.ts'
import * as sql from './statements.ts'

/** What may be kept in memory, in rows of weight 1: those take 90 to 350 bytes. */
const MAX_KEPT_WEIGHT = 130_000

/**
 * Batches that may be on their way to the database at a time. More would only make each of them wait longer; and what a
 * batch set is kept until two more have been sent after it, and not always longer.
 */
const MAX_IN_FLIGHT = 2

export interface BatchContext {
  readonly head: Head
  /** The last batch. */
  readonly lastBatch: string
  /** The database's clock: one for all instances. */
  readonly now: Micros
  readonly rows: RowCache
  readonly storedReplies: Map<string, StoredReply>
  /** Whether a transaction is open that holds the head. */
  readonly isLocked: boolean
}

/** What is known of the end of the ledger once all that was sent has happened. */
interface CachedHead {
  readonly head: Head
  /** The last batch. */
  readonly lastBatch: string
  readonly rows: RowCache
}

/** What is to be loaded, and where it goes. */
interface LoadRequest {
  readonly commands: readonly Command[]
  /** Those whose replies are looked up. */
  readonly possibleReplays: readonly Command[]
  readonly rows: RowCache
  readonly storedReplies: Map<string, StoredReply>
  /** Sent before. */
  readonly before: readonly Statement[]
}

/**
 * The only writer of the ledger; one transaction a batch, in one of two ways.
 *
 * Locked: takes the head, loads what the commands read, and writes, in two round trips. Right whoever else writes.
 *
 * Ahead: as long as nobody else has moved the head, the rows that were loaded or written here are still right. A batch
 * is decided on them and sent, while earlier ones may still be on their way: one round trip that nobody waits for. It
 * happens only if the head then stands where it was decided (`Moved` if not), so only if those before it happened too.
 * One that writes nothing is not answered either unless the head stands there. Nor are replies looked up under keys that
 * are taken to be new (`UsedKeys`): every command with a key that does not fail writes one, and cannot beside another
 * (`UsedBefore`).
 */
export class Store {
  readonly #writer: PipelinedConnection
  /** Loads rows for a batch while the writer is busy with the one before. */
  readonly #reader: PipelinedConnection
  readonly #tables: ReadonlyMap<string, RowTable>
  readonly #derived: readonly RowTable[]
  readonly #clock = new DatabaseClock()
  readonly #recentKeys: RecentKeyFilter
  #cachedHead: CachedHead | undefined
  /** The last batch from here, or the last one of all when it was looked for, if that is known. */
  #lastBatch: string | undefined
  #inFlight = 0
  /** Replies of batches that are on their way. */
  readonly #inFlightReplies = new Set<readonly StoredReply[]>()

  private constructor(
    writer: PipelinedConnection,
    reader: PipelinedConnection,
    tables: readonly RowTable[],
    usedKeys: RecentKeyFilter,
  ) {
    this.#writer = writer
    this.#reader = reader
    this.#recentKeys = usedKeys
    this.#tables = new Map(tables.map((table) => [table.projection.name, table]))
    this.#derived = tables.filter(({ source }) => source === 'ledger')
  }

  /** Throws when the database cannot be reached within 3 seconds. */
  static async connect(url: string, tables: readonly RowTable[], usedKeys: RecentKeyFilter): Promise<Store> {
    const writer = await PipelinedConnection.connect(url, 'ledger writer')
    try {
      return new Store(writer, await PipelinedConnection.connect(url, 'ledger reader'), tables, usedKeys)
    } catch (error) {
      writer.cut()
      throw error
    }
  }

  get isBroken(): boolean {
    return this.#writer.isBroken || this.#reader.isBroken
  }

  /** Whether `begin` may come while batches are on their way. */
  get canPipeline(): boolean {
    return this.#cachedHead !== undefined && this.#clock.now !== undefined && this.#inFlight < MAX_IN_FLIGHT
  }

  /** What the commands are decided on. To be followed by `commit` or `leave`, or by `forget` when it throws. */
  async open(commands: readonly Command[]): Promise<BatchContext> {
    const known = this.#cachedHead
    const { now } = this.#clock
    this.#cachedHead = undefined
    return known === undefined || now === undefined
      ? this.#openPessimistic(commands)
      : this.#openOptimistic(known, now, commands)
  }

  /**
   * Sends what the batch made, with the rows it changed, its replies and the new head, and commits. Throws `Moved`, or
   * `LostCommit` when it may have happened or not; any other error means that nothing happened.
   */
  async commit(id: string, { lastBatch: last, rows, isLocked: locked }: BatchContext, batch: Batch): Promise<void> {
    // All are made before any is sent: a row that cannot be written must not leave half of them on the wire.
    // Drops go before the others: a unique word may pass from a row that goes to one that comes.
    const { drops, saves } = this.#changes(rows)
    const changes = [
      ...(batch.events.length > 0 ? [sql.insertEvents(batch)] : []),
      ...saves,
      ...(batch.replies.length > 0 ? [sql.insertReplies(batch)] : []),
    ]
    const advancing = sql.advance(id, last, batch.head, changes)
    // Mostly one statement does it all. Without BEGIN and COMMIT around it a lone command takes a twentieth less; but an
    // error that comes instead of its answer then does not tell whether it was committed.
    const statements = [
      ...(locked ? [] : [sql.begin]),
      // The head comes first in every transaction: who holds a row that its holder needs, and waits for it, is a deadlock.
      ...(locked || drops.length === 0 ? [] : [sql.lockHead]),
      ...drops,
      ...advancing,
      sql.commit,
    ]
    const alone = !locked || last === this.#lastBatch
    const answered = this.#writer.sendAll(statements)
    this.#lastBatch = id
    this.#inFlightReplies.add(batch.replies)
    this.#inFlight += 1
    const words = this.#changesProfileData(rows)
    rows.markClean(this.#derived, MAX_KEPT_WEIGHT)
    // Beside other writers what is kept would mostly be old, and finding that out costs a round trip.
    const known = alone ? { head: batch.head, lastBatch: id, rows } : undefined
    if (!words) this.#cachedHead = known
    try {
      const results = await answered
      assertCommitted(results, locked)
      const moved = results.at(-1 - advancing.length)
      if (moved?.status === 'fulfilled') this.#clock.set(Number(moved.value.rows[0]?.['now']))
      // The reader does not see words that are on their way, as nobody keeps them.
      if (words) this.#cachedHead = known
    } catch (error) {
      if (error instanceof DuplicateIdempotencyKey) this.#recentKeys.disable(performance.now())
      throw error
    } finally {
      this.#inFlightReplies.delete(batch.replies)
      this.#inFlight -= 1
    }
  }

  /**
   * Nothing is to be written. Throws `Moved` when what was decided cannot be answered, as the head is not, or is not
   * known to be, where it was decided.
   */
  async finishReadOnly({ head, lastBatch: last, rows, isLocked: locked }: BatchContext): Promise<void> {
    if (locked) await this.#writer.query([sql.rollback])
    const alone = !locked || last === this.#lastBatch
    this.#lastBatch = last
    rows.markClean(this.#derived, MAX_KEPT_WEIGHT)
    this.#cachedHead = alone ? { head, lastBatch: last, rows } : undefined
    if (locked) return
    // Behind all that is on its way.
    const answered = this.#writer.sendAll([sql.readHead])
    this.#inFlight += 1
    const [answer] = await answered
    this.#inFlight -= 1
    const found = answer?.status === 'fulfilled' ? answer.value.rows[0] : undefined
    if (found?.['batch'] !== last) throw new HeadConflict('somebody else has moved the head')
    this.#clock.set(Number(found['now']))
  }

  /** Something went wrong and nothing is on its way any more: nothing is known, and no transaction is open. */
  async reset(): Promise<void> {
    this.#cachedHead = undefined
    this.#lastBatch = undefined
    if (!this.isBroken) await this.#writer.query([sql.rollback]).catch(() => this.cut())
  }

  /**
   * Whether the batch happened; if not, it never will. Locks the head first: the connection that was lost may still be
   * committing, and it holds the head until that is over. What still lies unread with its server names the batch that
   * was last, and finds another one there.
   */
  async isCommitted(id: string): Promise<boolean> {
    const [, , found] = await this.#writer.query([sql.begin, sql.lockHead, sql.findBatch(id), sql.fence, sql.commit])
    return found !== undefined && found.rows.length > 0
  }

  /** Cuts the connections: a server that does not answer is not waited for. */
  cut(): void {
    this.#writer.cut()
    this.#reader.cut()
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#reader.close()])
  }

  /** Begins, locks the head, then loads what the commands read. Whoever waits here is next in line. */
  async #openPessimistic(commands: readonly Command[]): Promise<BatchContext> {
    const rows = new RowCache()
    const remembered = new Map<string, StoredReply>()
    this.#recentKeys.mayExist(commands, performance.now())
    const before = [sql.begin, sql.lockHead]
    const [, locked] = await this.#load(
      { commands, possibleReplays: commands, rows, storedReplies: remembered, before },
      this.#writer,
    )
    const row = locked?.rows[0]
    if (row === undefined) throw new Error('the ledger has no head')
    const now = Number(row['now'])
    this.#clock.set(now)
    const head = { position: Number(row['position']), hash: String(row['hash']), at: Number(row['at']) }
    return { head, lastBatch: String(row['batch']), now, rows, storedReplies: remembered, isLocked: true }
  }

  async #openOptimistic(
    { head, lastBatch: last, rows }: CachedHead,
    now: Micros,
    commands: readonly Command[],
  ): Promise<BatchContext> {
    const remembered = new Map<string, StoredReply>()
    // Before the reader is asked: it may answer as of before a batch that arrives while it does.
    for (const replies of this.#inFlightReplies) addReplies(replies, remembered)
    const mayBeReplays = this.#recentKeys.mayExist(commands, performance.now())
    await this.#load(
      { commands, possibleReplays: mayBeReplays, rows, storedReplies: remembered, before: [] },
      this.#reader,
    )
    return { head, lastBatch: last, now, rows, storedReplies: remembered, isLocked: false }
  }

  /**
   * Loads the rows that the commands read and the replies under keys, after some statements of which it gives the
   * answers. What is known mostly tells at once what a command will ask for next; else that is another round trip.
   */
  async #load(
    { commands, possibleReplays: mayBeReplays, rows, storedReplies: remembered, before }: LoadRequest,
    pipeline: PipelinedConnection,
  ): Promise<readonly StatementResult[]> {
    const loads = new PendingLoads(this.#tables, rows)
    const lacks = (command: Command): boolean =>
      !(loads.request(command.reads) && loads.request(command.dependentReads(rows)))
    let lacking = commands.filter(lacks)
    const replies = sql.loadReplies(mayBeReplays)
    const statements = [...before, ...replies, ...loads.statements]
    const answers = statements.length === 0 ? [] : await pipeline.query(statements)
    const [reply] = answers.slice(before.length, before.length + replies.length)
    if (reply !== undefined) addReplies(reply.rows.map(sql.parseReply), remembered)
    loads.accept(answers.slice(before.length + replies.length))
    for (;;) {
      lacking = lacking.filter(lacks)
      if (lacking.length === 0) return answers
      loads.accept(await pipeline.query(loads.statements))
    }
  }

  /** What was set, by table: statements that delete rows, and statements that write them. */
  #changes(rows: RowCache): { readonly drops: readonly Statement[]; readonly saves: readonly Statement[] } {
    const drops: Statement[] = []
    const saves: Statement[] = []
    for (const table of this.#tables.values()) {
      const changed = rows.changed(table.projection)
      if (table.source === 'lookup' || changed.length === 0) continue
      const gone: string[] = []
      const saved: unknown[] = []
      for (const { id, row } of changed) {
        if (row === undefined) gone.push(id)
        else saved.push(row)
      }
      if (gone.length > 0) drops.push(table.remove(gone))
      if (saved.length > 0) saves.push(table.save(saved))
    }
    return { drops, saves }
  }

  #changesProfileData(rows: RowCache): boolean {
    for (const { source, projection } of this.#tables.values()) {
      if (source === 'profile' && rows.changed(projection).length > 0) return true
    }
    return false
  }
}

function addReplies(replies: readonly StoredReply[], remembered: Map<string, StoredReply>): void {
  for (const reply of replies) remembered.set(replyKey(reply.actor, reply.key), reply)
}
