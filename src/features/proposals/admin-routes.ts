import { dataOf, pageOf } from '../../../schema/common.ts'
import { IdParams } from '../../../schema/operator.ts'
import { AllProposals, DecideProposal, ProposalRecord } from '../../../schema/proposals.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { pageBody, readPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/ids.ts'
import type { FindCoveredCall } from '../../ledger/rules/covered-verb.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import type { App, Services } from '../services.ts'
import { proposalRecord } from './presenters.ts'
import { findProposal, findProposals } from './reads.ts'
import { proposalVerbs } from './verbs.ts'

const tags = ['operators']
const params = IdParams
const body = DecideProposal
const response = { 200: dataOf(ProposalRecord) }

/** Admin routes for proposals. */
export function proposalAdminRoutes(
  app: App,
  { execute, reads }: Services,
  findCall: FindCoveredCall,
  tables: readonly RowTable[],
): void {
  const databaseOf = reads.each((db) => db)
  const verbs = proposalVerbs(findCall)
  const terms = { findCall, tables }

  app.get(
    '/proposals',
    {
      schema: {
        operationId: 'pageProposals',
        summary: "What waits for a colleague's approval, and what became of it; newest first",
        description: 'With `status`, only those of that status.',
        tags,
        querystring: AllProposals,
        response: { 200: pageOf(ProposalRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const { status } = request.query
      const { proposals, hasMore } = await findProposals(databaseOf(request), terms, status, limit, cursor?.[0] ?? null)
      const records = proposals.map(({ proposal, preview }) => proposalRecord(proposal, preview))
      const page = pageBody(records, hasMore, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    '/proposals/:id',
    {
      schema: {
        operationId: 'getProposal',
        summary: 'A proposal',
        description: 'All that it would do, as it was read when it was made.',
        tags,
        params,
        response,
      },
    },
    async (request) => {
      const found = await findProposal(databaseOf(request), terms, idInPath(request.params.id))
      if (found === undefined) throw notFound()
      return { data: proposalRecord(found.proposal, found.preview) }
    },
  )

  const decide = (
    action: 'approve' | 'reject',
    verb: typeof verbs.approveProposal,
    documentation: { readonly operationId: string; readonly summary: string; readonly description: string },
  ): void => {
    const { refusals } = verb
    app.post(
      `/proposals/:id/${action}`,
      { schema: { ...documentation, tags, params, body, refusals, response } },
      (request, reply) => {
        const input = { proposal_id: idInPath(request.params.id), note: request.body?.note ?? null }
        return execute(request, reply, verb, input)
      },
    )
  }
  decide('approve', verbs.approveProposal, {
    operationId: 'approveProposal',
    summary: 'Do what a colleague proposed',
    description:
      'The effect is decided now, by the same rules as without a proposal: when these refuse it, the proposal stays ' +
      'open. On the ledger its actor is the maker. Not for the maker (own_proposal), and only while the proposal is ' +
      'open (proposal_closed): 7 days.',
  })
  decide('reject', verbs.rejectProposal, {
    operationId: 'rejectProposal',
    summary: 'Close a proposal without doing it',
    description: 'The maker may, too.',
  })
}
