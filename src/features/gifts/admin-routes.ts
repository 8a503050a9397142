import { dataOf, IdParams, PageQuery, pageOf, pickName } from '../../../schema/common.ts'
import { AddBagItems, AddedBagItems, DefineDecoration, DefinedDecoration } from '../../../schema/gifts.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { App, Services } from '../services.ts'
import { decorationVersion } from './decoration.ts'
import { type PublishedRow, parseOdds } from './odds.ts'
import { definedDecoration } from './presenters.ts'
import { decorationById, newestDecorations } from './reads.ts'
import type { GiftVerbs } from './verbs.ts'

const params = IdParams

/** Admin routes for the catalogue of gifts and for bags. */
export function giftAdminRoutes(app: App, services: Services, verbs: GiftVerbs): void {
  const { execute, db, settings } = services

  app.put(
    '/decorations/:id',
    {
      schema: {
        operationId: 'defineDecoration',
        summary: 'Create or change a gift',
        tags: ['operators'],
        params,
        body: DefineDecoration,
        description:
          'What was sent before stays as it was drawn and paid. Absent fields stay as they are. A price that makes what ' +
          'lies in all bags worth more by more than the limit for bag becomes a proposal (202), of the price alone: a body that changes ' +
          'something else, too, is 422 then.',
        refusals: verbs.defineDecoration.refusals,
        response: { 200: dataOf(DefinedDecoration), 202: dataOf(ProposalRecord) },
      },
    },
    (request, reply) => {
      const { name, kind, price, image_path, video_path, odds } = request.body
      const fields = {
        name: pickName(name),
        kind,
        price,
        image_path,
        video_path,
        odds: odds === undefined ? undefined : validateOdds(odds ?? []),
        expected: expectedVersion(request),
      }
      const id = idInPath(request.params.id)
      return execute(request, reply, verbs.defineDecoration, { decoration_id: id, ...fields })
    },
  )

  app.get(
    '/decorations/:id',
    {
      schema: {
        operationId: 'getDecoration',
        summary: 'A gift',
        description: 'As it was put, with its odds and an ETag for the next change.',
        tags: ['operators'],
        params,
        response: { 200: dataOf(DefinedDecoration) },
      },
    },
    async (request, reply) => {
      const decoration = await decorationById(db, idInPath(request.params.id))
      if (decoration === undefined) throw notFound()
      reply.header('etag', etagOf(decorationVersion(decoration)))
      return { data: definedDecoration(decoration, settings.assetBaseUrl) }
    },
  )

  app.get(
    '/decorations',
    {
      schema: {
        operationId: 'pageDecorations',
        summary: 'The catalogue of gifts, newest first',
        description: 'As they were put.',
        tags: ['operators'],
        querystring: PageQuery,
        response: { 200: pageOf(DefinedDecoration) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestDecorations(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, decoration_id }) => [created_at, decoration_id])
      return { ...page, data: page.data.map((decoration) => definedDecoration(decoration, settings.assetBaseUrl)) }
    },
  )

  app.post(
    '/users/:id/bag',
    {
      schema: {
        operationId: 'addBagItems',
        summary: "Add gifts to a user's bag",
        description: 'Their value is the price of now times the quantity; above its limit it becomes a proposal (202).',
        tags: ['operators'],
        params,
        body: AddBagItems,
        refusals: verbs.addBagItems.refusals,
        response: { 201: dataOf(AddedBagItems), 202: dataOf(ProposalRecord) },
      },
    },
    (request, reply) => {
      const { decoration_id, quantity, reason } = request.body
      const user_id = idInPath(request.params.id)
      const input = { user_id, decoration_id, quantity, reason }
      return execute(request, reply, verbs.addBagItems, input)
    },
  )
}

/** Validates the decimals of multipliers, which the schema cannot express, and drops unknown fields. */
function validateOdds(odds: NonNullable<DefineDecoration['odds']>): readonly PublishedRow[] {
  const parsed = parseOdds(odds)
  if ('errors' in parsed) throw validationFailed(parsed.errors)
  return odds.map(({ multiplier, weight }) => ({ multiplier, weight }))
}
