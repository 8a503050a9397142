import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { jsonRequest } from '../../harness/http/request.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'

/** Positions around those of the draws that are guessed. */
const AROUND = 10

const Draws = Type.Object({
  data: Type.Array(
    Type.Object({
      chain: Type.String(),
      k: Type.Integer(),
      link: Type.String(),
      client_seed: Type.String(),
      odds_hash: Type.String(),
      orders: Type.Array(Type.Object({ order_id: Type.String(), r: Type.Integer() }), { minItems: 1 }),
    }),
    { minItems: 1 },
  ),
})

/** A user whose only knowledge is that order ids are numbers must learn nothing of another's draws. */
export async function guessedDraws(attackRun: AttackRun): Promise<void> {
  const connection = new HttpConnection(attackRun.port)
  const draws = await drawnBy(attackRun, connection, attackers[0])
  for (const draw of draws) {
    const position = Number(/^\d+/.exec(draw.orders[0]?.order_id ?? '')?.[0])
    // The commitment is known to all, and chains are numbered: only the link must not be.
    const guesses = Array.from({ length: 2 * AROUND }, (_, i) => position - AROUND + i)
    for (const guess of guesses) {
      const suffix = draw.orders[0]?.order_id.replace(/^\d+/, '') ?? ''
      const order_id = `${guess}${suffix}`
      for (const claim of [
        { chain: 'c-1', k: 1, link: 'ab'.repeat(32), client_seed: 'x', orders: [{ order_id }] },
        { chain: draw.chain, k: draw.k, link: 'ab'.repeat(32), client_seed: 'x', orders: [{ order_id }] },
      ]) {
        const request = jsonRequest('POST', '/v1/fairness/verify', tokenOf('user', attackers[1]) ?? '', claim)
        const response = await attackRun.send(connection, request, 'a guessed order id')
        const leaks = response?.text.includes(draw.link) === true || response?.text.includes(draw.odds_hash) === true
        attackRun.expect(
          !leaks,
          'a guessed order id',
          request,
          `tells of somebody else's draw: ${response?.text.slice(0, 500)}`,
        )
      }
    }
  }
  await connection.close()
}

async function drawnBy(attackRun: AttackRun, connection: HttpConnection, user: number) {
  const token = tokenOf('user', user) ?? ''
  const credit = { currency: 'diamonds', amount: 1_000_000, reason: 'to be sent' }
  await attackRun.send(
    connection,
    jsonRequest('POST', `/admin/v1/users/${user}/credits`, tokenOf('operator') ?? '', credit),
    'set up',
  )
  const gift = { u_id: user, decoration_id: 3, user_id: [attackers[2]], quantity: 1, room_id: 'R1' }
  for (let i = 0; i < 3; i += 1)
    await attackRun.send(connection, jsonRequest('POST', '/v1/instant-send', token, gift), 'set up')
  const response = await attackRun.send(
    connection,
    jsonRequest('GET', '/v1/fairness/lucky/draws?limit=5', token),
    'set up',
  )
  return Value.Parse(Draws, JSON.parse(response?.text ?? '')).data
}
