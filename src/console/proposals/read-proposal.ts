import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyRequest } from 'fastify'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { bodyOf } from '../admin-request.ts'
import type { ConsoleServices } from '../console-services.ts'

const response = TypeCompiler.Compile(Type.Object({ data: ProposalRecord }))

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
