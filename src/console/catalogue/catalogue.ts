import { currentMode } from '../../features/app-status/reads.ts'
import { allDecorations } from '../../features/gifts/reads.ts'
import { packagesByRank } from '../../features/privilege/reads.ts'
import { allCountries } from '../../features/users/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { FOUR_EYES } from '../frame/act.ts'
import { numberCell, statusCell } from '../frame/cells.ts'
import { sendSections } from '../frame/page.ts'
import { appModePages } from './app-mode.ts'
import { countryPages } from './countries.ts'
import { giftPages } from './gifts.ts'
import { packagePages } from './packages.ts'
import { allReleases, releasePages } from './releases.ts'

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
    return sendSections(request, reply, {
      title: 'Catalogue',
      tab: '/console/catalogue',
      sections: [
        {
          lead: 'What users can be given and buy, and which clients may use the app.',
          facts: [
            ['Gifts', numberCell(gifts.length, '/console/catalogue/gifts')],
            ['Privilege packages', numberCell(packages.length, '/console/catalogue/packages')],
            ['Countries', numberCell(countries.length, '/console/catalogue/countries')],
            ['Releases', numberCell(releases.length, '/console/catalogue/releases')],
            ['Maintenance', statusCell(isOn ? 'on' : 'off', isOn ? 'waiting' : 'good', '/console/catalogue/app-mode')],
          ],
        },
        { note: FOUR_EYES },
      ],
    })
  })
  for (const addPages of [giftPages, packagePages, countryPages, releasePages, appModePages]) addPages(scope, services)
}
