import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { dataOf, PageQuery, pageOf } from '../../schema/common.ts'
import {
  ChooseSeed,
  PublishedChains,
  PublishedDraw,
  PublishedOddsTable,
  type VerifyDraw,
} from '../../schema/fairness.ts'
import type { Tables } from '../db/tables.ts'
import { chooseSeed, showChains } from '../fairness/choose-seed.ts'
import type { Verdict } from '../fairness/verdict.ts'
import { userOf } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { pageUpTo, readPage } from '../http/pages.ts'
import type { App, Services } from '../http/services.ts'
import { ownTurn } from '../http/turns.ts'
import { validationFailed } from '../http/validation.ts'
import { heldOdds } from './odds.ts'
import { chainsOf, commitmentOf, drawAt, drawsOf, oddsOf, oddsTableByHash } from './reads.ts'
import { positionOf } from './send.ts'
import { verifyDraw } from './verify-draw.ts'

/** Doors through which players check their draws. */
export function luckyFairnessRoutes(app: App, { run, db, chains }: Services): void {
  const show = showChains(chains)
  const choose = chooseSeed(chains)

  app.get(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'showLuckyChain',
        summary: "The caller's running chain of draws and the one after it, with their commitments",
        tags: ['fairness'],
        response: { 200: dataOf(PublishedChains) },
      },
    },
    async (request, reply) => {
      const user_id = userOf(request)
      const known = await chainsOf(db, user_id)
      return known === undefined ? await run(request, reply, show, { user_id }) : { data: known }
    },
  )

  app.put(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'chooseLuckySeed',
        summary: 'End the running chain and start the next one with a seed of your own',
        tags: ['fairness'],
        body: ChooseSeed,
        response: { 200: dataOf(PublishedChains) },
      },
    },
    (request, reply) =>
      run(request, reply, choose, { user_id: userOf(request), client_seed: request.body.client_seed }),
  )

  app.get(
    '/fairness/lucky/draws',
    {
      schema: {
        operationId: 'listLuckyDraws',
        summary: "The caller's sends that were drawn, newest first, with all that is needed to check them",
        description: 'A page of sends with many orders ends early; next_cursor tells whether there are more.',
        tags: ['fairness'],
        querystring: PageQuery,
        response: { 200: pageOf(PublishedDraw) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      await ownTurn()
      const { draws, more } = await drawsOf(db, userOf(request), cursor?.[0] ?? null, limit)
      const page = pageUpTo(draws, more, ({ position }) => [position])
      return { ...page, data: page.data.map(({ draw }) => draw) }
    },
  )

  app.get(
    '/fairness/odds/:hash',
    {
      schema: {
        operationId: 'showOdds',
        summary: 'An odds table by its hash, for ever',
        tags: ['fairness'],
        params: Type.Object({ hash: Type.String() }),
        response: { 200: dataOf(PublishedOddsTable) },
      },
    },
    async (request) => {
      const { hash } = request.params
      const table = /^[0-9a-f]{64}$/.test(hash) ? await oddsTableByHash(db, hash) : undefined
      if (table === undefined) throw notFound()
      return { data: table }
    },
  )
}

/** Checks a draw of a lucky gift against what is published and what the ledger holds. 422 for odds that are none. */
export async function checkDraw(db: Kysely<Tables>, draw: VerifyDraw): Promise<Verdict> {
  const sent = draw.odds === undefined ? undefined : heldOdds(draw.odds)
  if (sent !== undefined && 'errors' in sent) throw validationFailed(sent.errors)
  const position = positionOf(draw.orders.find(({ order_id }) => order_id !== undefined)?.order_id ?? '')
  const [commitment, odds, placed] = await Promise.all([
    commitmentOf(db, draw.chain),
    draw.odds_hash === undefined ? undefined : oddsOf(db, draw.odds_hash),
    position === undefined ? undefined : drawAt(db, position),
  ])
  // An order's id means nothing on another ledger than ours.
  const recorded = commitment === undefined ? undefined : placed
  const named = sent?.rows
  return verifyDraw(draw, { published: commitment, odds: odds ?? named, named, recorded })
}
