import { givenName, type StoredName } from '../../language/names.ts'
import type { Field } from '../forms/fields.ts'
import type { Values } from '../forms/values.ts'

/** The fields of a name in one language or two. */
export const nameFields: readonly Field<StoredName>[] = [
  {
    name: 'name',
    label: 'Name',
    group: 'name',
    control: { kind: 'line', maxLength: 100, isRequired: true },
    valueOf: ({ name }) => name,
  },
  {
    name: 'name_ar',
    label: 'Name in Arabic',
    group: 'name',
    hint: 'Left empty, the first name is shown in both languages.',
    control: { kind: 'line', maxLength: 100, language: 'ar' },
    valueOf: ({ name_ar }) => name_ar ?? '',
  },
]

/** The name of a body of /admin/v1. */
export const nameIn = ({ name = '', name_ar = '' }: Values) =>
  name === '' ? undefined : givenName({ name, name_ar: name_ar === '' ? null : name_ar })
