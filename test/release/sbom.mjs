// node sbom.mjs FILE: whether a bill of materials is valid, by the schema of CycloneDX 1.6.
import { readFileSync } from 'node:fs'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'

const text = readFileSync(process.argv[2], 'utf8')
const errors = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
if (errors !== null) {
  console.log(errors)
  process.exit(1)
}
const { components, metadata } = JSON.parse(text)
console.log(`${metadata.component.name} ${metadata.component.version}: ${components.length} components`)
