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
