import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { dataOf, Id, IdParams, PageQuery, pageOf } from '../../../schema/common.ts'
import { AllProposals, DecideProposal, ProposalEffectRecord, ProposalRecord } from '../../../schema/proposals.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { pageBody, readPage } from '../../http/pages.ts'
import { etagOf, idInPath } from '../../http/validation/request-parts.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { refuse } from '../../ledger/rules/verb.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import type { FindCoveredCall } from './covered-verb.ts'
import { approveProposal, expireProposals, rejectProposal } from './decide.ts'
import { effectRecord, proposalRecord } from './presenters.ts'
import { findProposal, findProposals, type PreviewParts } from './reads.ts'

/** What staff may do only with a colleague's approval. */
export function createProposalsSlice(parts: PreviewParts): Slice {
  const verbs = proposalVerbs(parts.findCall)
  return {
    documentedPrefix: '/api/v1',
    configure: () => ({ verbs, adminRoutes: (app, services) => proposalAdminRoutes(app, services, verbs, parts) }),
  }
}

const tags = ['operators']
const params = IdParams
const body = DecideProposal
const response = { 200: dataOf(ProposalRecord) }

/** Admin routes for proposals. */
function proposalAdminRoutes(app: App, { execute, db }: Services, verbs: ProposalVerbs, parts: PreviewParts): void {
  app.get(
    '/proposals',
    {
      schema: {
        operationId: 'pageProposals',
        summary: "What waits for a colleague's approval, and what became of it; newest first",
        description:
          'With `status`, only those of that status. Nothing of the rows of salary files is read: they are shown by their ' +
          'sums.',
        tags,
        querystring: AllProposals,
        response: { 200: pageOf(ProposalRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const { status } = request.query
      const { proposals, hasMore } = await findProposals(db, parts, status, limit, cursor?.[0] ?? null)
      const page = pageBody(proposals.map(proposalRecord), hasMore, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )

  app.get(
    '/proposals/:id',
    {
      schema: {
        operationId: 'getProposal',
        summary: 'A proposal',
        description:
          'What it keeps since it was made, with the balances of now while it is open. Its ETag is its version, which ' +
          'approve and reject take.',
        tags,
        params,
        response,
      },
    },
    async (request, reply) => {
      const found = await findProposal(db, parts, idInPath(request.params.id))
      if (found === undefined) throw notFound()
      reply.header('etag', etagOf(found.proposal.version))
      return { data: proposalRecord(found) }
    },
  )

  app.get(
    '/proposals/:id/effects',
    {
      schema: {
        operationId: 'getProposalEffects',
        summary: 'All that a proposal moves, in the order of its rows',
        description:
          'While it is open, what an approval would do now, without the rows of a salary file that cannot be paid any ' +
          'more: each page is as of its own moment. Once it is decided, what was kept.',
        tags,
        params,
        querystring: PageQuery,
        response: { 200: pageOf(ProposalEffectRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const first = cursor?.[0] ?? 0
      const found = await findProposal(db, parts, idInPath(request.params.id))
      if (found === undefined) throw notFound()
      const { effects } = found.preview
      const shown = effects.slice(first, first + limit).map(effectRecord)
      const page = pageBody(shown, effects.length > first + limit, () => [first + limit])
      return { ...page, data: [...page.data] }
    },
  )

  const decide = (
    action: 'approve' | 'reject',
    verb: typeof verbs.approveProposal,
    documentation: { readonly operationId: string; readonly summary: string; readonly description: string },
  ): void => {
    const { refusals } = verb
    const errorData = refusals.includes('proposal_changed') ? { 412: ProposalRecord } : {}
    app.post(
      `/proposals/:id/${action}`,
      { schema: { ...documentation, tags, params, body, refusals, errorData, response } },
      (request, reply) => {
        const { version, note = null } = request.body ?? {}
        const versions = shownVersions(request, version)
        return execute(request, reply, verb, { proposal_id: idInPath(request.params.id), versions, note })
      },
    )
  }
  decide('approve', verbs.approveProposal, {
    operationId: 'approveProposal',
    summary: 'Do what a colleague proposed',
    description:
      'Takes the version that was read, in the body or as If-Match (version_required), and does what it showed or ' +
      'nothing: rows of a salary file that cannot be paid any more are left out and listed, nothing else is paid than ' +
      'what was proposed, and where it would do something else the answer is 412 proposal_changed, with the proposal ' +
      'as it is now in data; it stays open under a new version. The effect is decided now, by the same rules as without ' +
      'a proposal: when these refuse it, the proposal stays open. On the ledger its actor is the maker. Not for the ' +
      'maker (own_proposal), and only while the proposal is open (proposal_closed): 7 days.',
  })
  decide('reject', verbs.rejectProposal, {
    operationId: 'rejectProposal',
    summary: 'Close a proposal without doing it',
    description: 'The maker may, too. Takes the version that was read, as approveProposal does.',
  })
}

/**
 * The versions that a decision names, in its body and as If-Match, each once; none where it names none, or where one of
 * the two says any or one of several.
 */
function shownVersions({ headers }: Pick<FastifyRequest, 'headers'>, version: string | undefined): string[] {
  const tag = headers['if-match']?.trim().replace(/^"(.*)"$/, '$1')
  const named = [version, tag].flatMap((one) => (one === undefined || one === '' ? [] : [one]))
  return named.some((one) => one === '*' || one.includes(',')) ? [] : [...new Set(named)]
}

const Decision = inputSchema(
  Type.Object({
    proposal_id: Id,
    versions: Type.Array(Type.String()),
    note: Type.Union([Type.String(), Type.Null()]),
  }),
)
/** Run by the service itself; its answer is the number of proposals that ended. */
export const registeredExpireProposals = registerVerb(
  'expire-proposals',
  inputSchema(Type.Object({ candidates: Type.Array(Id) })),
  expireProposals,
)

/** The verbs of proposals, which do what the calls found by `findCall` do. */
const proposalVerbs = (findCall: FindCoveredCall) => ({
  approveProposal: registerVerb('approve-proposal', Decision, approveProposal(findCall), {
    body: (approval) => ({ data: proposalRecord('decided' in approval ? approval.decided : approval.changed) }),
    refusal: (approval) =>
      'changed' in approval ? { ...refuse('proposal_changed'), data: proposalRecord(approval.changed) } : null,
  }),
  rejectProposal: registerVerb('reject-proposal', Decision, rejectProposal(findCall), {
    body: (rejected) => ({ data: proposalRecord(rejected) }),
  }),
  expireProposals: registeredExpireProposals,
})

type ProposalVerbs = ReturnType<typeof proposalVerbs>
