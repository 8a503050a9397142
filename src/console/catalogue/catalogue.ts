import { currentMode } from '../../features/app-status/reads.ts'
import { allDecorations } from '../../features/gifts/reads.ts'
import { packagesByRank } from '../../features/privilege/reads.ts'
import { allCountries } from '../../features/users/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { type Cell, numberCell, statusCell } from '../frame/cells/cells.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { appModePages } from './app-mode/app-mode.ts'
import { countryPages } from './countries/countries.ts'
import { giftPages } from './gifts/gifts.ts'
import { packagePages } from './packages/packages.ts'
import { allReleases, releasePages } from './releases/releases.ts'

const template = defineTemplate<{ facts: readonly (readonly [string, Cell])[] }>('/catalogue/catalogue.eta')

/** /console/catalogue: what there is to give and to buy, and which clients may use the app. */
export const cataloguePages: ConsolePages = (scope, services) => {
  scope.get('/catalogue', async (request, reply) => {
    const [gifts, packages, countries, releases, mode] = await Promise.all([
      allDecorations(services.db),
      packagesByRank(services.db),
      allCountries(services.db),
      allReleases(services.db),
      currentMode(services.db),
    ])
    const isOn = mode?.maintenance === true
    return sendPage(request, reply, template, {
      title: 'Catalogue',
      data: {
        facts: [
          ['Gifts', numberCell(gifts.length, '/console/catalogue/gifts')],
          ['Privilege packages', numberCell(packages.length, '/console/catalogue/packages')],
          ['Countries', numberCell(countries.length, '/console/catalogue/countries')],
          ['Releases', numberCell(releases.length, '/console/catalogue/releases')],
          ['Maintenance', statusCell(isOn ? 'on' : 'off', isOn ? 'waiting' : 'good', '/console/catalogue/app-mode')],
        ],
      },
    })
  })
  for (const addPages of [giftPages, packagePages, countryPages, releasePages, appModePages]) addPages(scope, services)
}
