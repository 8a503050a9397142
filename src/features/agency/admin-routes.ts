import type { FastifyRequest } from 'fastify'
import {
  AllWithdrawals,
  ChangeStatus,
  DepositSalaries,
  MAX_DEPOSITS,
  type SalaryDeposit,
  SalaryReport,
  Withdrawal,
  WithdrawalParams,
} from '../../../schema/agency.ts'
import { dataOf, isOn, pageOf } from '../../../schema/common.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { fieldMessages } from '../../language/messages.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import type { Deposit } from './deposit-salaries.ts'
import { dollarsRule, dollarWallet, parseDollars } from './dollars.ts'
import { sealedRecord } from './presenters.ts'
import { findWithdrawal, findWithdrawals } from './reads.ts'
import type { AgencyVerbs } from './verbs.ts'
import { hydrateSealed, sealNoteForChange, unseal, type Viewer, viewerWith } from './withdrawals/vault-access.ts'
import { withdrawalVersion } from './withdrawals/withdrawal.ts'

const tags = ['operators']

/** Admin routes for withdrawals and salaries. */
export function agencyAdminRoutes(app: App, services: Services, verbs: AgencyVerbs): void {
  const { execute, db, vault, settings } = services

  app.get(
    '/withdrawals',
    {
      schema: {
        operationId: 'pageAllWithdrawals',
        summary: 'All withdrawal requests, newest first',
        description: 'Operators see bank details whole, finance the last four characters of the account number.',
        tags,
        querystring: AllWithdrawals,
        response: { 200: pageOf(Withdrawal) },
      },
    },
    async (request) => {
      const { type, status, agent_benefit } = request.query
      const { limit, cursor } = readPage(request.query, 1)
      const wallet = agent_benefit === undefined ? undefined : dollarWallet(isOn(agent_benefit))
      const rows = await findWithdrawals(db, { type, status, wallet }, limit + 1, cursor?.[0] ?? null, {
        assetBaseUrl: settings.assetBaseUrl,
        language: languageOf(request),
      })
      const viewer = viewerOf(request)
      const page = toPage(await unseal(db, vault, rows, { viewer }), limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    '/withdrawals/:id',
    {
      schema: {
        operationId: 'getWithdrawal',
        summary: 'A withdrawal request',
        description: 'Operators see bank details whole, finance the last four characters of the account number.',
        tags,
        params: WithdrawalParams,
        response: { 200: dataOf(Withdrawal) },
      },
    },
    async (request, reply) => {
      // Where its status is decided, so that the version is that of what is shown.
      const named = await findWithdrawal(db, idInPath(request.params.id))
      if (named === undefined) throw notFound()
      const record = sealedRecord(named, { assetBaseUrl: settings.assetBaseUrl, language: languageOf(request) })
      const [data] = await unseal(db, vault, [record], { viewer: viewerOf(request) })
      if (data === undefined) throw new Error(`withdrawal ${record.id} was not unsealed`)
      reply.header('etag', etagOf(withdrawalVersion(named.withdrawal)))
      return { data }
    },
  )

  app.post(
    '/withdrawals/:id/status',
    {
      schema: {
        operationId: 'decideWithdrawal',
        summary: 'Change the status of a withdrawal request',
        description: 'What a chosen agent or manager may do is allowed here, too. A refusal pays back what was held.',
        tags,
        params: WithdrawalParams,
        body: ChangeStatus,
        refusals: verbs.changeStatus.refusals,
        response: { 200: dataOf(Withdrawal) },
      },
    },
    async (request, reply) => {
      const withdrawal_id = idInPath(request.params.id)
      const { isKnown, note, plaintexts } = await sealNoteForChange(db, vault, withdrawal_id, request.body.note)
      const expected = expectedVersion(request)
      const input = { withdrawal_id, caller_id: null, to: request.body.status, note: note.digest, expected }
      const prepared = { note: note.record, isKnown }
      const options = { request: input, hydrate: hydrateSealed(db, vault, plaintexts) }
      await execute(request, reply, verbs.changeStatus, { prepared, request: input }, options)
    },
  )

  app.post(
    '/salary-deposits',
    {
      schema: {
        operationId: 'depositSalaries',
        summary: 'Pay users for a period, each of them once; refused rows do not affect the others',
        description: 'Answers which rows were paid, which had been paid before, and which are refused and why.',
        tags,
        body: DepositSalaries,
        refusals: verbs.depositSalaries.refusals,
        response: { 201: dataOf(SalaryReport), 202: dataOf(ProposalRecord) },
      },
      // The schema reports every error in a list. For a list far beyond the limit that would block the server for seconds.
      preValidation: async ({ body }) => {
        if (Array.isArray(body?.deposits) && body.deposits.length > MAX_DEPOSITS) {
          throw validationFailed({ deposits: [fieldMessages.holds_at_most(MAX_DEPOSITS)] })
        }
      },
    },
    (request, reply) => {
      const { period, deposits } = request.body
      const input = { period, deposits: parseDeposits(deposits), dry_run: false }
      return execute(request, reply, verbs.depositSalaries, input)
    },
  )
}

const viewerOf = ({ caller }: Pick<FastifyRequest, 'caller'>): Viewer =>
  caller.kind === 'staff' ? viewerWith(caller.role) : 'finance'

/** Parses dollars into cents, and validates the decimals, which the schema cannot express. */
function parseDeposits(rows: readonly SalaryDeposit[]): Deposit[] {
  const errors: Record<string, LocalizedText[]> = {}
  const cents = (row: SalaryDeposit, i: number, field: 'dollars' | 'agent_dollars'): number => {
    const units = parseDollars(row[field], 0)
    if (units === null) errors[`deposits.${i}.${field}`] = [dollarsRule(0)]
    return units ?? 0
  }
  const deposits = rows.map((row, i) => ({
    user_id: row.user_id,
    dollars: cents(row, i, 'dollars'),
    agent_dollars: cents(row, i, 'agent_dollars'),
    target: row.target ?? 0,
  }))
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
  return deposits
}
