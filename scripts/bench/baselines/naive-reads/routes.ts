import { Type } from '@sinclair/typebox'
import type { Pool } from 'pg'
import { InstantTransfer, OwnTransfers, OwnWithdrawals, Withdrawal } from '../../../../schema/agency.ts'
import { dataOf, PageQuery, pageOf } from '../../../../schema/common.ts'
import { PublishedChains, PublishedDraw } from '../../../../schema/fairness.ts'
import { BagItem, Decoration } from '../../../../schema/gifts.ts'
import { WalletCard } from '../../../../schema/privilege.ts'
import { RoomParams, RoomResource } from '../../../../schema/rooms.ts'
import { Game } from '../../../../schema/roulette.ts'
import { Wallet } from '../../../../schema/wallet.ts'
import type { App, Services } from '../../../../src/features/services.ts'
import { userOf } from '../../../../src/http/auth/caller.ts'
import { notFound } from '../../../../src/http/errors/http-error.ts'
import { pageBody, readPage, toPage } from '../../../../src/http/pages.ts'
import { reads } from '../../reads/workload.ts'
import { readTransfers, readWithdrawals } from './agency.ts'
import { readDecorations, readDraws } from './gifts.ts'
import { readGame, readRoom } from './rooms.ts'
import { readBag, readCards, readChains, readWallet } from './wallet.ts'

/**
 * Reads as a good service without batches answers them: one request is one prepared statement, which answers all of it,
 * on a connection of a pool; the product's schemas and presenters make the answer. Histories: their first page only.
 */
export function naiveReadRoutes(
  app: App,
  { vault, settings: { assetBaseUrl } }: Pick<Services, 'vault' | 'settings'>,
  pool: Pool,
): void {
  app.get(reads.wallet.route, { schema: { response: { 200: Wallet } } }, async (request) => ({
    data: found(await readWallet(pool, userOf(request), assetBaseUrl)),
  }))
  app.get(
    reads['privilege wallet'].route,
    { schema: { response: { 200: dataOf(Type.Array(WalletCard)) } } },
    async (request) => ({ data: await readCards(pool, userOf(request), assetBaseUrl) }),
  )
  app.get(
    reads.room.route,
    { schema: { params: RoomParams, response: { 200: dataOf(RoomResource) } } },
    async (request) => ({ data: found(await readRoom(pool, request.params.uid, assetBaseUrl)) }),
  )
  app.get(
    reads.game.route,
    { schema: { params: RoomParams, response: { 200: dataOf(Type.Union([Game, Type.Null()])) } } },
    async (request) => ({ data: found(await readGame(pool, request.params.uid, assetBaseUrl)) }),
  )
  app.get(reads.bag.route, { schema: { response: { 200: dataOf(Type.Array(BagItem)) } } }, async (request) => ({
    data: await readBag(pool, userOf(request), assetBaseUrl),
  }))
  app.get(reads.decorations.route, { schema: { response: { 200: dataOf(Type.Array(Decoration)) } } }, async () => ({
    data: await readDecorations(pool, assetBaseUrl),
  }))
  app.get(reads['lucky chain'].route, { schema: { response: { 200: dataOf(PublishedChains) } } }, async (request) => ({
    data: found(await readChains(pool, userOf(request))),
  }))
  app.get(
    reads.draws.route,
    { schema: { querystring: PageQuery, response: { 200: pageOf(PublishedDraw) } } },
    async (request) => {
      const { limit } = readPage(request.query, 1)
      const rows = await readDraws(pool, userOf(request), limit + 1)
      const page = pageBody(rows.slice(0, limit), rows.length > limit, ({ position }) => [position])
      return { ...page, data: page.data.map(({ draw }) => draw) }
    },
  )
  app.get(
    reads.withdrawals.route,
    { schema: { querystring: OwnWithdrawals, response: { 200: pageOf(Withdrawal) } } },
    async (request) => {
      const { limit } = readPage(request.query, 1)
      const rows = await readWithdrawals(pool, vault, userOf(request), limit + 1, assetBaseUrl)
      const page = toPage(rows, limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )
  app.get(
    reads.transfers.route,
    { schema: { querystring: OwnTransfers, response: { 200: pageOf(InstantTransfer) } } },
    async (request) => {
      const { limit } = readPage(request.query, 1)
      const rows = await readTransfers(pool, userOf(request), limit + 1, assetBaseUrl)
      const page = toPage(rows, limit, ({ id }) => [id])
      return { ...page, data: [...page.data] }
    },
  )
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound()
  return value
}
