/** The one form of an actor's name, which login services may write in several ways: `staff:ann`, `staff:Ann`. */
export const plainName = (actor: string): string => actor.replaceAll(' ', '').toLowerCase()

export const isSamePerson = (one: string, other: string): boolean => plainName(one) === plainName(other)
