import { dataOf, PageQuery, pageOf } from '../../../schema/common.ts'
import {
  type Checkpoint,
  JobParams,
  MadeCheckpoint,
  StartVerification,
  VerificationRun,
} from '../../../schema/finance.ts'
import { closingVerbs } from '../../features/closings/verbs.ts'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { makeCheckpoint } from '../checkpoint/made-checkpoints.ts'
import { findVerification, listVerifications, startVerification, stopVerification } from '../jobs/verifications.ts'
import { auditMessages } from '../messages.ts'
import { doOnce } from './do-once.ts'
import type { FinanceServices } from './services.ts'

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
          'One verification runs at a time, whatever the number of instances. With a checkpoint, as `GET ' +
          '/ledger/checkpoint` answered it, history up to it must be unchanged. Roles finance and operator.',
        tags,
        refusals: closingVerbs.startVerification.refusals,
        body: StartVerification,
        response: { 201: dataOf(VerificationRun) },
      },
    },
    (request, reply) => {
      const { body } = request
      const checkpoint = body.checkpoint === undefined ? null : trusted(body.checkpoint)
      return doOnce(request, reply, services, {
        verb: closingVerbs.startVerification,
        input: { checkpoint },
        work: ({ by, key }) => startVerification(services, { startedBy: by, key, checkpoint }),
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
