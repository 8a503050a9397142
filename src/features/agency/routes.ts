import { Type } from '@sinclair/typebox'
import {
  type BankDetails,
  ChangeStatus,
  ChargingAgent,
  InstantTransfer,
  MakeInstantTransfer,
  OwnTransfers,
  OwnWithdrawals,
  RequestWithdrawal,
  Withdrawal,
  WithdrawalParams,
} from '../../../schema/agency.ts'
import { dataOf, isOn, PersonResource, pageOf } from '../../../schema/common.ts'
import { userOf } from '../../http/auth/caller.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { languageOf } from '../../language/request-language.ts'
import { openStored } from '../../vault/reads.ts'
import { withAvatarUrl } from '../asset-url.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { agencyAdminRoutes } from './admin-routes.ts'
import { dollarsRule, dollarWallet, MIN_TRANSFER_CENTS, parseDollars } from './dollars.ts'
import { withdrawalFrames } from './frames.ts'
import { businessManagers, chargingAgents } from './reads.ts'
import { type AgencyVerbs, agencyVerbs } from './verbs.ts'
import { transferLookup, withdrawalLookup } from './withdrawals/reads.ts'
import { hydrateSealed, sealDetails, sealNoteForChange, unsealWith } from './withdrawals/vault-access.ts'

/** Dollars: withdrawals through agents and managers, instant transfers, and salaries. */
export const agencySlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = agencyVerbs(settings)
    return {
      verbs,
      routes: (app, services) => agencyRoutes(app, services, verbs),
      adminRoutes: (app, services) => agencyAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: withdrawalFrames,
}

const tags = ['agency']
const requests = '/agency/target-withdraw-requests'
const transfers = '/agency/target-transaction-requests'

/** Client routes for withdrawals and instant transfers. */
function agencyRoutes(app: App, services: Services, verbs: AgencyVerbs): void {
  const { execute, db, vault, settings } = services
  const assetBaseUrl = () => settings.assetBaseUrl
  const withdrawals = withdrawalLookup(db, assetBaseUrl)
  const instantTransfers = transferLookup(db, assetBaseUrl)

  app.post(
    `${requests}/request`,
    {
      schema: {
        operationId: 'requestWithdrawal',
        summary: 'Request diamonds from a charging agent, or cash from a business manager; the amount is put on hold',
        description:
          'The amount must be available: the wallet less what is on hold. It stays in the wallet until the request is ' +
          'approved. The agent must receive requests and serve the country; nobody asks oneself.',
        tags,
        body: RequestWithdrawal,
        refusals: verbs.requestWithdrawal.refusals,
        response: { 201: dataOf(Withdrawal) },
      },
    },
    (request, reply) => {
      const { body } = request
      const caller_id = userOf(request)
      const details = sealDetails(vault, caller_id, { ...body, bank_details: bankDetails(body) })
      const input = {
        caller_id,
        ...targetOf(body),
        country_id: body.country_id,
        amount: parseAmount('amount_in_dollars', body.amount_in_dollars),
        agent_benefit: isOn(body.agent_benefit),
        details: details.digest,
      }
      const options = { request: input, hydrate: hydrateSealed(db, vault, details.plaintext) }
      return execute(request, reply, verbs.requestWithdrawal, { prepared: details.record, request: input }, options)
    },
  )

  app.get(
    requests,
    {
      schema: {
        operationId: 'pageWithdrawals',
        summary: "The caller's requests, or those addressed to the caller, newest first",
        description: 'Both sides see the bank details whole.',
        tags,
        querystring: OwnWithdrawals,
        response: { 200: pageOf(Withdrawal) },
      },
    },
    async (request) => {
      const { type, status, agent_benefit } = request.query
      const received = isOn(request.query.received)
      const { limit, cursor } = readPage(request.query, 1)
      const isOfBothWallets = received && agent_benefit === undefined
      const wanted = {
        userId: userOf(request),
        received,
        type,
        status,
        wallet: isOfBothWallets ? undefined : dollarWallet(isOn(agent_benefit)),
        limit: limit + 1,
        before: cursor?.[0] ?? null,
      }
      const rows = await withdrawals(wanted, languageOf(request))
      const plaintexts = openStored(
        vault,
        rows.flatMap(({ records }) => records),
      )
      const unsealed = unsealWith(
        vault,
        rows.map(({ withdrawal }) => withdrawal),
        plaintexts,
      )
      const page = toPage(unsealed, limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    `${requests}/charging-agents`,
    {
      schema: {
        operationId: 'listChargingAgents',
        summary: 'The charging agents who accept requests, with their countries and rates',
        description: 'All of them, newest first.',
        tags,
        response: { 200: dataOf(Type.Array(ChargingAgent)) },
      },
    },
    async (request) => ({
      data: await chargingAgents(db, { assetBaseUrl: assetBaseUrl(), language: languageOf(request) }),
    }),
  )

  app.get(
    '/agency/business-managers',
    {
      schema: {
        operationId: 'listBusinessManagers',
        summary: 'The business managers whom the caller can ask for cash',
        description: 'All of them without the caller, newest first.',
        tags,
        response: { 200: dataOf(Type.Array(PersonResource)) },
      },
    },
    async (request) => {
      const found = await businessManagers(db, userOf(request))
      return { data: found.map((manager) => withAvatarUrl(manager, assetBaseUrl())) }
    },
  )

  app.post(
    `${requests}/:id/status`,
    {
      config: { writes: 'charge-only' },
      schema: {
        operationId: 'changeWithdrawalStatus',
        summary: 'Decide a request as its agent or manager, or take back a pending request of the caller',
        description:
          'The agent or manager approves or rejects a pending request, and marks an approved one as transferred; the ' +
          'requester may only reject a pending one. Approving takes the dollars from the wallet; rejecting frees the hold, or ' +
          'pays back what was approved. No change moves diamonds: the agent pays them to the beneficiary outside this ' +
          'service.',
        tags,
        params: WithdrawalParams,
        body: ChangeStatus,
        // Clients send no precondition.
        refusals: verbs.changeStatus.refusals.filter((code) => code !== 'precondition_failed'),
        response: { 200: dataOf(Withdrawal) },
      },
    },
    async (request, reply) => {
      const withdrawal_id = idInPath(request.params.id)
      const { isKnown, note, plaintexts } = await sealNoteForChange(db, vault, withdrawal_id, request.body.note)
      const input = { withdrawal_id, caller_id: userOf(request), to: request.body.status, note: note.digest }
      const prepared = { note: note.record, isKnown }
      const options = { request: input, hydrate: hydrateSealed(db, vault, plaintexts) }
      await execute(request, reply, verbs.changeStatus, { prepared, request: input }, options)
    },
  )

  app.post(
    `${transfers}/request`,
    {
      schema: {
        operationId: 'makeInstantTransfer',
        summary: 'Exchange dollars for diamonds immediately, for the caller or another user',
        description: 'A dollar is 10,000 diamonds, or 13,000 when the receiver is a charging agent.',
        tags,
        body: MakeInstantTransfer,
        refusals: verbs.makeInstantTransfer.refusals,
        response: { 201: dataOf(InstantTransfer) },
      },
    },
    (request, reply) => {
      const { dollars, user_id, agent_benefit } = request.body
      const amount = parseAmount('dollars', dollars)
      const input = { caller_id: userOf(request), receiver_id: user_id, amount, agent_benefit: isOn(agent_benefit) }
      return execute(request, reply, verbs.makeInstantTransfer, input)
    },
  )

  app.get(
    transfers,
    {
      schema: {
        operationId: 'pageInstantTransfers',
        summary: 'The instant transfers that the caller made, or those that the caller received, newest first',
        description: 'Transfers are done at once: none of them waits.',
        tags,
        querystring: OwnTransfers,
        response: { 200: pageOf(InstantTransfer) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const { status, received } = request.query
      // Instant transfers are always approved.
      const none = status !== undefined && status !== 'approved'
      const before = cursor?.[0] ?? null
      const page = { userId: userOf(request), received: isOn(received), limit: limit + 1, before }
      const rows = none ? [] : await instantTransfers(page)
      const { data, meta } = toPage(rows, limit, ({ id }) => [id])
      return { data: [...data], meta }
    },
  )
}

/** Bank details of a request for cash; they are ignored in requests for diamonds. */
const bankDetails = (body: RequestWithdrawal): BankDetails | null =>
  body.type === 'cash' ? { ...body.bank_details, account_number: String(body.bank_details.account_number) } : null

/** The addressee and the beneficiary of a request. */
const targetOf = (body: RequestWithdrawal) =>
  body.type === 'cash'
    ? { type: body.type, target_id: body.business_manager_id, beneficiary_id: null }
    : { type: body.type, target_id: body.target_user_id, beneficiary_id: body.beneficiary_user_id }

/** Parses dollars into cents, and validates the decimals, which the schema cannot express. */
function parseAmount(field: string, sent: string | number): number {
  const cents = parseDollars(sent, MIN_TRANSFER_CENTS)
  if (cents === null) throw validationFailed({ [field]: [dollarsRule(MIN_TRANSFER_CENTS)] })
  return cents
}
