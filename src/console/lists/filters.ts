/** An input of the form above a list, for one of its filters. */
export interface FilterField {
  readonly name: string
  readonly label: string
  /** Values with what people read; the first one stands for none. Without them a text is typed. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly isNumber?: true
  readonly maxLength?: number
  readonly placeholder?: string
}

export const textFilter = (name: string, label: string, maxLength: number, placeholder?: string): FilterField => ({
  name,
  label,
  maxLength,
  ...(placeholder === undefined ? {} : { placeholder }),
})

export const idFilter = (name: string, label: string): FilterField => ({ name, label, isNumber: true, maxLength: 15 })

export const choiceFilter = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
): FilterField => ({ name, label, options })

/** The form as its template shows it. */
export interface ShownFilters {
  readonly action: string
  readonly button: string
  readonly fields: readonly (FilterField & { readonly value: string })[]
}
