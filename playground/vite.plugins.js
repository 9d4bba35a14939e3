// The plugins of the build that are our own.
import { basename, dirname } from 'node:path';

// Changes the text of one file.
export function rewrite(file, pattern, replacement) {
  const transform = (code, id) => (id.endsWith(file) ? { code: code.replace(pattern, replacement), map: null } : null);
  return { name: `rewrite ${file} ${pattern.source.slice(0, 20)}`, enforce: 'pre', transform };
}

// The route whose page is at `/`.
const ROOT = 'graphiql';

// Writes a page for each folder of `src/routes`, which has its title and preloads the files of that route: one round trip less. The server serves `home.html` at
// `/home` and below.
export function pagePerRoute() {
  let rootPage;
  const generateBundle = {
    order: 'post',
    handler(_, bundle) {
      const page = bundle['index.html'];
      for (const entry of Object.values(bundle)) {
        const route = routeOf(entry.facadeModuleId);
        if (!route) continue;
        const titled = route === ROOT ? page.source : page.source.replace(/<title>.*<\/title>/, `<title>Waxwing ${route}</title>`);
        const source = titled.replace('</head>', `${preloads(entry, bundle)}  </head>`);
        if (route === ROOT) rootPage = source;
        else this.emitFile({ type: 'asset', fileName: `${route}.html`, source });
      }
      page.source = rootPage ?? page.source;
    },
  };
  return { name: 'a page per route', apply: 'build', generateBundle };
}

function routeOf(module) {
  const folder = module && dirname(module);
  return folder?.endsWith(`/src/routes/${basename(folder)}`) && basename(module) === 'index.tsx' ? basename(folder) : null;
}

function preloads(entry, bundle) {
  const scripts = [...reached(entry, bundle)];
  const styles = scripts.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
  const links = [
    ...scripts.map(({ fileName }) => `<link rel="modulepreload" crossorigin href="/${fileName}" />`),
    ...styles.map((fileName) => `<link rel="preload" as="style" crossorigin href="/${fileName}" />`),
  ];
  return [...new Set(links)].map((link) => `  ${link}\n  `).join('');
}

// A file and what it imports, directly or not.
function reached(entry, bundle, found = new Set()) {
  if (!entry || found.has(entry)) return found;
  found.add(entry);
  for (const name of entry.imports) reached(bundle[name], bundle, found);
  return found;
}
