import type { Slice } from '../slice.ts'
import { proposalAdminRoutes } from './admin-routes.ts'
import type { PreviewParts } from './reads.ts'
import { proposalVerbs } from './verbs.ts'

/** What staff may do only with a colleague's approval. */
export function createProposalsSlice(parts: PreviewParts): Slice {
  const verbs = proposalVerbs(parts.findCall)
  return {
    documentedPrefix: '/api/v1',
    configure: () => ({ verbs, adminRoutes: (app, services) => proposalAdminRoutes(app, services, verbs, parts) }),
  }
}
