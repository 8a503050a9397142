import { randomUUID } from 'node:crypto'
import type { Micros } from '../rules/time.ts'
import type { Head, StoredReply } from '../storage/event-hash.ts'
import type { RowTable, Statement } from '../storage/row-table.ts'
import type { Batch } from './batch.ts'
import type { Command } from './command.ts'
import { DuplicateIdempotencyKey, HeadConflict, LedgerWentBack } from './failures.ts'
import { type AssertLedger, DatabaseClock, PipelinedConnection, type StatementResult } from './pipelined-connection.ts'
import type { RecentKeyFilter } from './recent-key-filter.ts'
import { PendingLoads, RowCache } from './row-cache.ts'
import * as sql from './statements.ts'
import { assertTransition, type StoreState, storeStates } from './states.ts'

/** The limit of the row cache, in rows of weight 1: those take 90 to 350 bytes each. */
const MAX_KEPT_WEIGHT = 130_000

/**
 * Batches in flight at a time. More would only make each of them wait longer; and the row cache keeps what a batch set
 * until two more have been sent after it, and not always longer.
 */
const MAX_IN_FLIGHT = 2

/** Whether the batch owns a lock on the head, or assumes where the head is. */
type Mode = 'pessimistic' | 'optimistic'

/** What a batch is decided on. */
export interface BatchContext {
  readonly mode: Mode
  readonly head: Head
  /** The batch that moved the head to where it is. */
  readonly lastBatch: string
  /** The database's clock: one for all instances. */
  readonly now: Micros
  readonly rows: RowCache
  readonly storedReplies: Map<string, StoredReply>
}

/** The end of the ledger, and rows as they are there, once everything in flight has committed. */
type CachedHead = Pick<BatchContext, 'head' | 'lastBatch' | 'rows'>

interface LoadRequest {
  readonly commands: readonly Command[]
  /** Commands whose replies are looked up. */
  readonly possibleRepeats: readonly Command[]
  readonly rows: RowCache
  readonly storedReplies: Map<string, StoredReply>
  /** Statements to send ahead of the loads. */
  readonly before: readonly Statement[]
}

/**
 * The only writer of the ledger: one transaction a batch, in one of two modes.
 *
 * Pessimistic: locks the head, loads what the commands read, and writes, in two round trips. Correct even if another
 * writes.
 *
 * Optimistic: as long as no other instance moves the head, the rows loaded or written here are still right. A batch is
 * decided on them and sent while earlier ones may still be in flight: one round trip, without waiting for it. It
 * commits only if the head is where it was decided (else `HeadConflict`), so only if the batches before it committed. A
 * batch that writes nothing is not answered either unless the head is there. Replies are not looked up under keys that
 * `RecentKeyFilter` takes to be new: a command with a used key tries to store a second reply under it, which fails the
 * batch (`DuplicateIdempotencyKey`).
 */
export class Store {
  readonly #writer: PipelinedConnection
  /** Loads rows for a batch while the writer is busy with the one before. */
  readonly #reader: PipelinedConnection
  readonly #tables: ReadonlyMap<string, RowTable>
  /** Tables whose rows follow from the ledger alone and may stay cached. */
  readonly #keptTables: readonly RowTable[]
  readonly #profileTables: readonly RowTable[]
  readonly #advances = new sql.AdvanceStatements()
  readonly #clock = new DatabaseClock()
  readonly #recentKeys: RecentKeyFilter
  #state: StoreState = 'unknown'
  /** Set in state `cached` only. */
  #cachedHead: CachedHead | undefined
  /** The last batch sent from here, or found at the head. */
  #lastBatch: string | undefined
  #inFlight = 0
  readonly #inFlightReplies = new Set<readonly StoredReply[]>()
  /** The types of events that were committed from here, of which `event_types` has a row. */
  readonly #writtenTypes = new Set<string>()

  private constructor(
    writer: PipelinedConnection,
    reader: PipelinedConnection,
    tables: readonly RowTable[],
    recentKeys: RecentKeyFilter,
  ) {
    this.#writer = writer
    this.#reader = reader
    this.#recentKeys = recentKeys
    this.#tables = new Map(tables.map((table) => [table.projection.name, table]))
    this.#keptTables = tables.filter(({ source }) => source === 'ledger')
    this.#profileTables = tables.filter(({ source }) => source === 'profile')
  }

  /**
   * Throws when the database cannot be reached, or says nothing for 3 seconds, and what `assertLedger` throws. During a
   * failover the second connection may lead to another server than the first: it is asserted, too.
   */
  static async connect(
    url: string,
    tables: readonly RowTable[],
    recentKeys: RecentKeyFilter,
    assertLedger?: AssertLedger,
  ): Promise<Store> {
    const writer = await PipelinedConnection.connect(url, 'ledger writer', assertLedger)
    try {
      return new Store(
        writer,
        await PipelinedConnection.connect(url, 'ledger reader', assertLedger),
        tables,
        recentKeys,
      )
    } catch (error) {
      writer.cut()
      throw error
    }
  }

  get isBroken(): boolean {
    return this.#writer.isBroken || this.#reader.isBroken
  }

  /** Whether a batch may be opened while others are in flight. */
  get canPipeline(): boolean {
    return this.#state === 'cached' && this.#clock.now !== undefined && this.#inFlight < MAX_IN_FLIGHT
  }

  /** Opens a batch. To be followed by `commit` or `finishReadOnly`, or by `reset` when anything throws. */
  async open(commands: readonly Command[]): Promise<BatchContext> {
    const cached = this.#cachedHead
    const { now } = this.#clock
    this.#enter('deciding')
    return cached === undefined || now === undefined
      ? this.#openPessimistic(commands)
      : this.#openOptimistic(cached, now, commands)
  }

  /**
   * Sends what the batch made, with the rows it changed, its replies and the new head, and commits. Throws
   * `HeadConflict`, or `CommitOutcomeUnknown` when it may have committed or not; after any other error, such as
   * `LedgerWentBack`, nothing happened.
   */
  async commit(id: string, { mode, lastBatch, rows }: BatchContext, batch: Batch): Promise<void> {
    // All statements are made before any is sent: a row that cannot be written must not leave half of them on the wire.
    const { removals, saves } = sql.changesOf(this.#tables, rows)
    const changes = [
      ...(batch.events.length > 0 ? [sql.insertEvents(batch)] : []),
      ...saves,
      ...(batch.replies.length > 0 ? [sql.insertReplies(batch)] : []),
    ]
    const advance = this.#advances.advance(id, lastBatch, batch.head, changes)
    const types = batch.events.map(({ type }) => type).filter((type) => !this.#writtenTypes.has(type))
    // Mostly one statement does it all, and without BEGIN and COMMIT a lone command would take a twentieth less; but an
    // error in place of its answer would then not tell whether it was committed.
    const statements = [
      ...(mode === 'pessimistic' ? [] : [sql.begin]),
      // The head is locked first in every transaction: to lock a row that the head's owner waits for is a deadlock.
      ...(mode === 'pessimistic' || removals.length === 0 ? [] : [sql.lockHead]),
      // Removals come first: a unique value may pass from a row that goes to one that comes.
      ...removals,
      ...advance,
      ...(types.length === 0 ? [] : [sql.insertEventTypes([...new Set(types)])]),
      sql.commit,
    ]
    const isAlone = this.#isAlone(mode, lastBatch)
    const answered = this.#writer.sendAll(statements)
    this.#lastBatch = id
    this.#inFlightReplies.add(batch.replies)
    this.#inFlight += 1
    try {
      const changesProfileData = this.#profileTables.some(({ projection }) => rows.changed(projection).length > 0)
      rows.markClean(this.#keptTables, MAX_KEPT_WEIGHT)
      const cached = isAlone ? { head: batch.head, lastBatch: id, rows } : undefined
      this.#settle(changesProfileData ? undefined : cached)
      const results = await answered
      sql.assertCommitted(results, mode)
      for (const type of types) this.#writtenTypes.add(type)
      const advanced = results[statements.findIndex((statement) => statement === advance[0])]
      if (advanced?.status === 'fulfilled') this.#clock.set(Number(advanced.value.rows[0]?.['now']))
      // Profile data is not cached, and the reader does not see it while it is in flight.
      if (changesProfileData) this.#settle(cached)
    } catch (error) {
      if (error instanceof DuplicateIdempotencyKey) this.#recentKeys.disable(performance.now())
      throw error
    } finally {
      this.#inFlightReplies.delete(batch.replies)
      this.#inFlight -= 1
    }
  }

  /**
   * Ends a batch that writes nothing. Throws `HeadConflict` when its replies may not be sent, because the head is not
   * known to be where they were decided, and `LedgerWentBack` while commits are lost.
   */
  async finishReadOnly({ mode, head, lastBatch, rows }: BatchContext): Promise<void> {
    if (mode === 'pessimistic') {
      const [lost] = await this.#writer.query([sql.findLostCommits, sql.rollback])
      if (lost !== undefined && lost.rows.length > 0) throw new LedgerWentBack('commits were lost')
    }
    const isAlone = this.#isAlone(mode, lastBatch)
    this.#lastBatch = lastBatch
    rows.markClean(this.#keptTables, MAX_KEPT_WEIGHT)
    this.#settle(isAlone ? { head, lastBatch, rows } : undefined)
    if (mode === 'pessimistic') return
    // Sent after everything in flight.
    const answered = this.#writer.sendAll([sql.readHead])
    this.#inFlight += 1
    const [answer] = await answered.finally(() => {
      this.#inFlight -= 1
    })
    const found = answer?.status === 'fulfilled' ? answer.value.rows[0] : undefined
    if (found?.['batch'] !== lastBatch) throw new HeadConflict('another batch has moved the head')
    this.#clock.set(Number(found['now']))
  }

  /** After a failure, once nothing is in flight: drops the head and closes any open transaction. */
  async reset(): Promise<void> {
    if (this.#inFlight > 0) throw new Error(`cannot reset with batches in flight: ${this.#inFlight}`)
    this.#settle(undefined)
    this.#lastBatch = undefined
    if (!this.isBroken) await this.#writer.query([sql.rollback]).catch(() => this.cut())
  }

  /**
   * Whether the batch was committed; if not, it never will be. Locks the head first: the lost connection may still be
   * committing, and keeps the head locked until that is over. Then changes the head's batch id, so that whatever the server
   * has yet to read from that connection fails with a conflict.
   */
  async isCommitted(id: string): Promise<boolean> {
    if (this.#state !== 'unknown') throw new Error(`the outcome of a batch cannot be read in state ${this.#state}`)
    const results = await this.#writer.query([
      sql.begin,
      sql.lockHead,
      sql.findBatch(id),
      sql.fence(randomUUID()),
      sql.commit,
    ])
    return (results[2]?.rows.length ?? 0) > 0
  }

  /** Drops the connections without waiting for the server. */
  cut(): void {
    this.#writer.cut()
    this.#reader.cut()
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#reader.close()])
  }

  #enter(state: StoreState): void {
    assertTransition(storeStates, this.#state, state)
    this.#state = state
    if (state !== 'cached') this.#cachedHead = undefined
  }

  /** Leaves the open batch: with a head that the next one may be decided on, or without. */
  #settle(cached: CachedHead | undefined): void {
    this.#enter(cached === undefined ? 'unknown' : 'cached')
    this.#cachedHead = cached
  }

  /** While other instances write, a cached head would mostly be outdated, and finding that out costs a round trip. */
  #isAlone(mode: Mode, lastBatch: string): boolean {
    return mode === 'optimistic' || lastBatch === this.#lastBatch
  }

  /** Begins, locks the head, then loads what the commands read. Who waits for the lock gets it in turn. */
  async #openPessimistic(commands: readonly Command[]): Promise<BatchContext> {
    const rows = new RowCache()
    const storedReplies = new Map<string, StoredReply>()
    this.#recentKeys.mayExist(commands, performance.now())
    const before = [sql.begin, sql.lockHead]
    const request = { commands, possibleRepeats: commands, rows, storedReplies, before }
    const [, locked] = await this.#load(request, this.#writer)
    const row = locked?.rows[0]
    if (row === undefined) throw new Error('the ledger has no head')
    const now = Number(row['now'])
    this.#clock.set(now)
    const head = { position: Number(row['position']), hash: String(row['hash']), at: Number(row['at']) }
    return { mode: 'pessimistic', head, lastBatch: String(row['batch']), now, rows, storedReplies }
  }

  async #openOptimistic(
    { head, lastBatch, rows }: CachedHead,
    now: Micros,
    commands: readonly Command[],
  ): Promise<BatchContext> {
    const storedReplies = new Map<string, StoredReply>()
    // Before the reader is asked: it may see the database as it was before a batch that commits meanwhile.
    for (const replies of this.#inFlightReplies) addReplies(replies, storedReplies)
    const possibleRepeats = this.#recentKeys.mayExist(commands, performance.now())
    await this.#load({ commands, possibleRepeats, rows, storedReplies, before: [] }, this.#reader)
    return { mode: 'optimistic', head, lastBatch, now, rows, storedReplies }
  }

  /**
   * Loads the rows that the commands read and the replies under their keys; returns the results of the statements
   * `before`. Cached rows mostly show at once what a command's dependent reads are; else that is another round trip.
   */
  async #load(
    { commands, possibleRepeats, rows, storedReplies, before }: LoadRequest,
    connection: PipelinedConnection,
  ): Promise<readonly StatementResult[]> {
    const loads = new PendingLoads(this.#tables, rows)
    const isIncomplete = (command: Command): boolean =>
      !(loads.request(command.reads) && loads.request(command.dependentReads(rows)))
    let incomplete = commands.filter(isIncomplete)
    const replyLoads = sql.loadReplies(possibleRepeats)
    const statements = [...before, ...replyLoads, ...loads.statements]
    const results = statements.length === 0 ? [] : await connection.query(statements)
    const [replies] = results.slice(before.length, before.length + replyLoads.length)
    if (replies !== undefined) addReplies(replies.rows.map(sql.parseReply), storedReplies)
    loads.accept(results.slice(before.length + replyLoads.length))
    for (;;) {
      incomplete = incomplete.filter(isIncomplete)
      if (incomplete.length === 0) return results
      loads.accept(await connection.query(loads.statements))
    }
  }
}

function addReplies(replies: readonly StoredReply[], storedReplies: Map<string, StoredReply>): void {
  for (const reply of replies) storedReplies.set(reply.key, reply)
}
