import type { SendRequest } from './test-app.ts'

/** Approves or rejects a proposal as it is shown to the one who decides. */
export async function decideProposal(
  send: SendRequest,
  id: number,
  verb: 'approve' | 'reject',
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const shown = await send('GET', `/admin/v1/proposals/${id}`)
  const { version } = Object(Object(shown.body).data)
  return send('POST', `/admin/v1/proposals/${id}/${verb}`, { version, ...body }, headers)
}
