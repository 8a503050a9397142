import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyRequest } from 'fastify'
import { dataOf, pageOf } from '../../../schema/common.ts'
import { ProposalEffectRecord, ProposalRecord } from '../../../schema/proposals.ts'
import { bodyOf } from '../admin-request.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addressWith } from '../frame/address.ts'
import type { ListRequest, ListRows } from '../lists/list.ts'

const response = TypeCompiler.Compile(dataOf(ProposalRecord))
const effectsResponse = TypeCompiler.Compile(pageOf(ProposalEffectRecord))

/** As it is now; an open one with what an approval would do. Throws a 404 when there is none with this id. */
export async function readProposal(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
): Promise<ProposalRecord> {
  const body = bodyOf(await adminRequest(request, { path: `/proposals/${id}` }))
  if (!response.Check(body)) throw new Error('the proposal is not as the document says')
  return body.data
}

/** A page of what it moves. Throws a 404 when there is none with this id. */
export async function readEffects(
  request: FastifyRequest,
  { adminRequest }: Pick<ConsoleServices, 'adminRequest'>,
  id: number,
  page: Pick<ListRequest<unknown>, 'cursor' | 'limit'>,
): Promise<ListRows<ProposalRecord['effects'][number]>> {
  const body = bodyOf(await adminRequest(request, { path: addressWith(`/proposals/${id}/effects`, { ...page }) }))
  if (!effectsResponse.Check(body)) throw new Error('the effects are not as the document says')
  return { rows: body.data, next: body.meta.next_cursor }
}
