import { setTimeout as sleep } from 'node:timers/promises'
import { dataOf, PageQuery, pageOf } from '../../../schema/common.ts'
import {
  type Checkpoint,
  Job,
  JobParams,
  MadeCheckpoint,
  StartVerification,
  VerificationRun,
  VerifyQuery,
} from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import { closingVerbs } from '../../features/closings/verbs.ts'
import type { App } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { makeCheckpoint, readCheckpoint } from '../checkpoint.ts'
import { JobStopped } from '../jobs/jobs.ts'
import { auditMessages } from '../messages.ts'
import {
  findVerification,
  listVerifications,
  startVerification,
  stopVerification,
  verifyInThread,
} from '../verify/verifications.ts'
import { ReportLimiter, streamReply } from './report-limiter.ts'
import { doOnce, type FinanceServices, parseInteger } from './requests.ts'

/** All that takes long, of every kind. */
export function jobRoutes(app: App, services: FinanceServices): void {
  const { jobs } = services
  const { stopJob } = closingVerbs

  app.get(
    '/jobs',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'All that takes long, newest first',
        description:
          'Verifications, steps of closings, trial balances of the past, counted draws, rebuilds and seals, on all ' +
          'instances and by command lines. Results of verifications are in `GET /ledger/verifications/{id}`.',
        tags: ['finance'],
        querystring: PageQuery,
        response: { 200: pageOf(Job) },
      },
    },
    async ({ query }) => {
      const { limit, cursor } = readPage(query, 1)
      const rows = await jobs.list({ before: cursor?.[0], limit: limit + 1 })
      const page = toPage(
        rows.map(({ job }) => job),
        limit,
        ({ id }) => [id],
      )
      return { ...page, data: [...page.data] }
    },
  )

  app.post(
    '/jobs/:id/stop',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'stopJob',
        summary: 'Stop a job; one that has ended stays as it is',
        description: 'On another instance it ends about a second later. Roles finance and operator.',
        tags: ['finance'],
        refusals: stopJob.refusals,
        params: JobParams,
        response: { 200: dataOf(Job) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      return doOnce(request, reply, services, {
        verb: stopJob,
        input: {},
        work: async ({ by }) => {
          await jobs.stop(id, by)
          return (await jobs.find({ id }))?.job ?? null
        },
      })
    },
  )
}

const tags = ['finance']

/** Verifications in the background, and checkpoints that are remembered. */
export function verificationRoutes(app: App, services: FinanceServices): void {
  const { jobs, checkpoints, db } = services

  app.get(
    '/ledger/verifications',
    {
      schema: {
        operationId: 'listVerifications',
        summary: 'Verifications that staff started, newest first',
        description: 'Those of all instances.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(VerificationRun) },
      },
    },
    async ({ query }) => {
      const { limit, cursor } = readPage(query, 1)
      const page = toPage(await listVerifications(jobs, limit + 1, cursor?.[0]), limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    '/ledger/verifications/:id',
    {
      schema: {
        operationId: 'showVerification',
        summary: 'How far a verification is, or what it found',
        description: 'Ask again while it runs: a verification of a large ledger takes minutes.',
        tags,
        params: JobParams,
        response: { 200: dataOf(VerificationRun) },
      },
    },
    async ({ params }) => {
      const run = await findVerification(jobs, idInPath(params.id))
      if (run === null) throw notFound()
      return { data: run }
    },
  )

  app.post(
    '/ledger/verifications',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'startVerification',
        summary: 'Verify the ledger and every table in the background',
        description:
          'One verification runs at a time, whatever the number of instances. It begins at the newest seal that has its ' +
          'snapshot, or with `full` at position 1. With a checkpoint, as `GET /ledger/checkpoint` answered it, history ' +
          'up to it must be unchanged. Roles finance and operator.',
        tags,
        refusals: closingVerbs.startVerification.refusals,
        body: StartVerification,
        response: { 201: dataOf(VerificationRun) },
      },
    },
    (request, reply) => {
      const { body } = request
      const checkpoint = body.checkpoint === undefined ? null : trusted(body.checkpoint)
      const seals = { sealsFolder: services.sealsFolder, full: body.full ?? false }
      return doOnce(request, reply, services, {
        verb: closingVerbs.startVerification,
        input: { checkpoint, full: seals.full },
        work: ({ by, key }) => startVerification(services, { startedBy: by, key, checkpoint, seals }),
      })
    },
  )

  app.post(
    '/ledger/verifications/:id/stop',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'stopVerification',
        summary: 'Stop a verification; one that has ended stays as it is',
        description: 'On another instance it ends about a second later. Roles finance and operator.',
        tags,
        refusals: closingVerbs.stopVerification.refusals,
        params: JobParams,
        response: { 200: dataOf(VerificationRun) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      return doOnce(request, reply, services, {
        verb: closingVerbs.stopVerification,
        input: {},
        work: ({ by }) => stopVerification(jobs, id, by),
      })
    },
  )

  app.post(
    '/ledger/checkpoints',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'makeCheckpoint',
        summary: 'Sign where the ledger ends, and remember who did',
        description: 'Keep the answer where nobody who runs the database can write. Roles finance and operator.',
        tags,
        refusals: [],
        response: { 201: dataOf(MadeCheckpoint) },
      },
    },
    (request, reply) =>
      doOnce(request, reply, services, {
        verb: closingVerbs.makeCheckpoint,
        input: {},
        work: (asked) => makeCheckpoint(db, checkpoints, asked),
      }),
  )

  /** A checkpoint that this ledger's key signed: by another one, anybody could have signed anything. */
  function trusted({ position, hash, at, algorithm, public_key, signature }: Checkpoint): Checkpoint {
    const text = JSON.stringify({ position, hash, at, algorithm, public_key, signature })
    try {
      return readCheckpoint(text, checkpoints.publicKey)
    } catch {
      throw validationFailed({ checkpoint: [auditMessages.foreign_checkpoint] })
    }
  }
}

const PROGRESS_INTERVAL_MS = 1_000

export function verifyRoute(app: App, { chooseReportDatabase, piiKey, jobs, sealsFolder }: FinanceServices): void {
  const limiter = new ReportLimiter(app, { running: 1, waiting: 0, maxWaitMs: 0 })

  app.get(
    '/ledger/verify',
    {
      schema: {
        operationId: 'verifyLedger',
        summary: 'Replay the ledger and compare it with itself and with every table',
        description:
          'One JSON document per line: { "progress": { events, of } } about every second, at the end { "result": { ' +
          'position, events, findings } }, with `seal`, the position of the seal that it began at, where that was not ' +
          'position 1. The books are sound when there is a result and it has no findings; there is ' +
          'none when somebody stops the job. One verification runs at a time; it ends when the client disconnects.',
        tags: ['finance'],
        querystring: VerifyQuery,
        response: {
          200: {
            description: 'Lines of JSON: the progress and, at the end, what was found',
            content: { 'application/x-ndjson': { schema: { type: 'string' } } },
          },
        },
      },
    },
    async (request, reply) => {
      const { query } = request
      const asOf = query.as_of === undefined ? null : parseInteger('as_of', query.as_of)
      const { db, url } = await chooseReportDatabase()
      const head = await headOf(db)
      if (asOf !== null && asOf > head) throw validationFailed({ as_of: [auditMessages.ledger_end(head)] })
      const startedBy = actorOf(request.caller)
      const { signal } = await limiter.acquire(startedBy, reply)
      const subject = asOf === null ? '' : String(asOf)
      const running = await jobs.start(
        { kind: 'streamed-verification', subject, startedBy, of: asOf ?? head },
        verifyInThread(url, { asOf, checkpoint: null, piiKey, sealsFolder, full: query.full === 'true' }),
        { signal },
      )
      const line = (): string => `${JSON.stringify({ progress: running.progress() })}\n`
      const chunks = async function* (): AsyncGenerator<string, void> {
        const ended = running.ended.catch((error: unknown) => {
          if (error instanceof JobStopped) return undefined
          throw error
        })
        for (;;) {
          const result = await Promise.race([ended, sleep(PROGRESS_INTERVAL_MS, null, { ref: false })])
          if (result === undefined) return yield line()
          if (result !== null) return yield `${JSON.stringify({ result })}\n`
          yield line()
        }
      }
      return streamReply(reply, 'application/x-ndjson', chunks(), line)
    },
  )
}
