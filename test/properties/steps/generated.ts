import { type Arbitrary, constantFrom } from 'fast-check'

/** What an arbitrary generates. */
export type Generated<Values> = Values extends Arbitrary<infer Value> ? Value : never

/** One of these numbers, of which fast-check's own function knows each as a type. */
export const numberOf = (...numbers: readonly number[]): Arbitrary<number> => constantFrom(...numbers)
