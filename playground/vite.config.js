// How the playground is built: static files with root-relative URLs, which the server embeds and serves itself.
//
// GraphiQL 4 (CodeMirror) is chosen over GraphiQL 5 (Monaco): 5 builds to 7.1 MB (2.1 MB gzipped) with web workers,
// 4 to 1.3 MB (0.4 MB), and a visitor sees the same panes sooner.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';

const SERVER = process.env.WAXWING_URL ?? 'http://127.0.0.1:4000';

// GraphiQL's style sheet carries two web fonts as data URIs. They are most of its weight, and a strict
// Content-Security-Policy refuses them: the system's fonts serve as well.
const withoutWebFonts = rewrite('graphiql/dist/style.css', /@font-face\s*\{[^}]*\}/g, '');

// GraphiQL titles its icons, for screen readers and in tooltips, by the names of functions, which minifying shortens.
const withIconNames = rewrite(
  '@graphiql/react/dist/icons/index.js',
  /generateIcon\((Svg\w+)\)/g,
  "generateIcon(Object.defineProperty($1, 'name', { value: '$1' }))",
);

// A part that several pages have alike is written once.
const withIncludes = {
  name: 'include',
  transformIndexHtml: { order: 'pre', handler: (html) => html.replace(/<!-- include (\S+) -->/g, (_, file) => readFileSync(new URL(file, import.meta.url), 'utf8')) },
};

function rewrite(file, pattern, replacement) {
  const transform = (code, id) => {
    if (!id.endsWith(file)) return null;
    return { code: code.replace(pattern, replacement), map: null };
  };
  return { name: `rewrite ${file}`, enforce: 'pre', transform };
}

// GraphiQL loads every lazy part of its editors at once anyway: one file spares the visitor 30 requests. The live page, which needs none of
// it, shares the rest.
const GRAPHIQL = { name: 'graphiql', test: /node_modules\/(?!graphql-ws)/ };

export default defineConfig({
  plugins: [withoutWebFonts, withIconNames, withIncludes, react()],
  build: {
    target: 'es2022',
    sourcemap: false,
    modulePreload: { polyfill: false },
    // An inlined image would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ['index.html', 'live.html', 'ads.html'],
      output: { codeSplitting: { groups: [GRAPHIQL] } },
    },
    chunkSizeWarningLimit: 1500,
  },
  server: { host: '127.0.0.1', proxy: { '/graphql': { target: SERVER, ws: true }, '/playground.json': SERVER, '/click': SERVER } },
});
