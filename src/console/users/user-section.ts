import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import type { ConsoleServices } from '../console-services.ts'
import { textCell } from '../layout/cells.ts'
import { userPath } from '../layout/links.ts'
import { type FilterField, type List, partTable, type Table } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { type LedgerEnds, pageEnd } from '../lists/period.ts'
import { findUser, personName } from './find-user.ts'

interface SectionOptions {
  /** The end of its page's path, after the user's: `cards`. */
  readonly path: string
  readonly lead?: string
  readonly choices?: readonly FilterField[]
}

/** Something that a user has many of: its newest on the user's page, and all on a page of their own. */
interface UserSection extends SectionOptions {
  readonly title: string
  /** The newest rows, for the user's page. */
  readonly readNewest: (request: FastifyRequest, db: Kysely<Tables>, ends: LedgerEnds) => Promise<Table>
  readonly addPage: (scope: App, services: ConsoleServices) => void
}

/** Rows of a section on the user's page. */
const NEWEST_ROWS = 8

/** Its list reads the rows of the user whose id is in the path of the request. */
export function defineUserSection<Filters extends TObject, Row>({
  path,
  lead,
  choices = [],
  ...list
}: SectionOptions & List<Filters, Row>): UserSection {
  const { label } = list
  return {
    path,
    title: label,
    async readNewest(request, db, ends) {
      const query = Object(null)
      const { at, note } = pageEnd(ends, undefined, list.needsIndex?.(query) ?? false)
      const { rows, next } = await list.read({ query, db, at, cursor: null, limit: NEWEST_ROWS }, request)
      // A long search ends early; its own page continues.
      const empty = next === null ? list.empty : 'None among the newest events. Follow the link to search on.'
      return partTable({ ...list, empty, rows, note })
    },
    addPage: (scope, services) =>
      addListPage(scope, services, {
        path: `/users/:id/${path}`,
        lead,
        filters: choices,
        list: {
          ...list,
          async read(asked, request) {
            // An unknown user is no user without rows.
            if (asked.cursor === null) await findUser(asked.db, request)
            return list.read(asked, request)
          },
        },
        extras: async (request) => {
          const { db } = await services.chooseReportDatabase()
          const user = await findUser(db, request)
          const name = personName(user)
          return {
            title: `${label} of ${name}`,
            heading: [`${label} of `, textCell(name)],
            up: textCell(name, userPath(user.user_id)),
          }
        },
      }),
  }
}
