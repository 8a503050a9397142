import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { dataOf } from '../../../schema/common.ts'
import { Verdict, VerifyBody, type VerifyDraw, VerifyGame, VerifySpin } from '../../../schema/fairness.ts'
import type { Tables } from '../../db/tables.ts'
import { runYielding, yieldToEventLoop } from '../../http/limits/concurrency.ts'
import { idempotencyKey } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { FieldErrors } from '../../language/messages.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import type { Verdict as Checked, IncrementalVerdict } from './verdict.ts'

/** Verification of published draws and spins. */
export const createFairnessSlice = (checks: DrawChecks): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({ routes: (app, services) => verifyRoutes(app, services, checks) }),
})

/** Verification by algorithm, passed in because draws belong to other slices. `errors` are invalid fields. */
interface DrawChecks {
  readonly lg1: (
    db: Kysely<Tables>,
    draw: VerifyDraw,
  ) => Promise<{ readonly check: IncrementalVerdict } | { readonly errors: FieldErrors }>
  readonly rr1: (db: Kysely<Tables>, spin: VerifySpin, claims?: Omit<VerifyGame, 'fairness'>) => Promise<Checked>
}

/** The route that verifies published draws and spins. */
function verifyRoutes(app: App, { db }: Services, checks: DrawChecks): void {
  app.post(
    '/fairness/verify',
    {
      // Up to 1,024 hashes and 100 draws: about 3 ms of CPU, where a gift takes about 0.2 ms.
      config: { writes: 'charge-only', cost: 20 },
      schema: {
        operationId: 'verifyDraw',
        summary: 'Verify a published draw or spin, step by step',
        description:
          'Takes an item of listLuckyDraws, a finished game, or the fairness of one. The algorithms and worked examples are ' +
          'at [/docs/fairness](/docs/fairness). The example is of the ledger on which it was recorded: another one answers ' +
          'valid false, as its ledger holds no such draw.',
        tags: ['fairness'],
        body: VerifyBody,
        response: { 200: dataOf(Verdict) },
      },
    },
    async (request) => {
      // Nothing is written, so nothing is stored under the idempotency key; its format is validated as everywhere.
      idempotencyKey(request)
      await yieldToEventLoop()
      const { body } = request
      if (Value.Check(VerifySpin, body)) return { data: await checks.rr1(db, body) }
      if (Value.Check(VerifyGame, body)) return { data: await checks.rr1(db, body.fairness, body) }
      const started = await checks.lg1(db, body)
      if ('errors' in started) throw validationFailed(started.errors)
      return { data: await runYielding(started.check) }
    },
  )
}
