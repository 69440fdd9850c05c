// Whether the links of the site that was built lead somewhere: to a file that is there and, behind a #, to
// an element with that id. VitePress itself looks at pages, and not at headings.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

// The values of these attributes, of all elements of a page's HTML.
function attributes(html) {
  const found = { href: [], src: [], id: [], name: [] }
  for (const [tag] of html.matchAll(/<[a-zA-Z][^>]*>/g)) {
    for (const [, name, value] of tag.matchAll(/\s(href|src|id|name)="([^"]*)"/g)) {
      found[name].push(value.replaceAll('&amp;', '&'))
    }
  }
  return found
}

// The links of the site in `directory` that lead nowhere: a line for each. It is to be served below `base`.
export function broken_links(directory, base) {
  const files = readdirSync(directory, { recursive: true })
  const pages = new Map(files.filter((file) => file.endsWith('.html'))
    .map((file) => [file, attributes(readFileSync(join(directory, file), 'utf8'))]))
  const broken = []
  for (const [page, { href, src }] of pages) {
    for (const link of new Set([...href, ...src])) {
      if (/^(https?|mailto):/.test(link)) continue
      const [path, fragment] = link.split('#').map(decodeURIComponent)
      let target = path.startsWith(base) ? path.slice(base.length) : join(dirname(page), path)
      if (path === '') target = page
      if (target === '' || target.endsWith('/')) target = join(target, 'index.html')
      const there = pages.get(target)
      if (!files.includes(target)) broken.push(`${page}: ${link}: no such page or file`)
      else if (fragment && there && !there.id.includes(fragment) && !there.name.includes(fragment)) {
        broken.push(`${page}: ${link}: no such heading`)
      }
    }
  }
  return broken
}
