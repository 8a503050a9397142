import { Type } from '@sinclair/typebox'
import { dataOf } from '../../../../schema/common.ts'
import { Country } from '../../../../schema/people.ts'
import { nameIn } from '../../../language/names.ts'
import { languageOf } from '../../../language/request-language.ts'
import type { App, Services } from '../../services.ts'
import { allCountries } from '../reads.ts'

/** The client route for countries. */
export function countryRoutes(app: App, { db }: Services): void {
  app.get(
    '/countries',
    {
      schema: {
        operationId: 'listCountries',
        summary: 'All countries, newest first',
        description: 'Withdrawals name one of them, and agents have a rate for each that they serve.',
        tags: ['users'],
        response: { 200: dataOf(Type.Array(Country)) },
      },
    },
    async (request) => {
      const countries = await allCountries(db)
      return {
        data: countries.map((country) => ({ id: country.country_id, name: nameIn(country, languageOf(request)) })),
      }
    },
  )
}
