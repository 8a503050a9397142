interface Answer {
  readonly body: unknown
}

/** The body of a response; each test knows its form. */
export const bodyOf = ({ body }: Answer) => Object(body)

/** The `data` of a response. */
export const dataOf = (answer: Answer) => bodyOf(answer).data

/** The ids in the list that a response has. */
export const idsOf = (answer: Answer): number[] => dataOf(answer).map(({ id }: { readonly id: number }) => id)

/** A time as the service shows it. */
export const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** What tests define a user with. */
export const profile = (id: number) => ({ id, uid: `u${id}`, name: `User ${id}`, avatar: `a/${id}.png` })

/** That user as clients see it. */
export const person = (id: number) => ({ ...profile(id), avatar_url: `http://assets.test/a/${id}.png` })
