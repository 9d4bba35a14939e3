// How the playground is built: static files with root-relative URLs, which the server embeds and serves itself. Every folder of `src/routes` has a
// page of its own, which differs from the others in what it preloads.
//
// GraphiQL 4 (CodeMirror) is chosen over GraphiQL 5 (Monaco): 5 builds to 7.1 MB (2.1 MB gzipped) with web workers, 4 to 1.3 MB (0.4 MB), and
// a visitor sees the same panes sooner.
import { defineConfig } from 'vite';
import react from '@vitejs/plugin-react';
import { pagePerRoute, rewrite } from './vite.plugins.js';

const SERVER = process.env.WAXWING_URL ?? 'http://127.0.0.1:4000';

// GraphiQL's style sheet carries two web fonts and three pictures as data URIs, which the Content-Security-Policy refuses. The fonts of the system
// serve as well, and the pictures only repeat what a colour says.
const withoutFonts = rewrite('graphiql/dist/style.css', /@font-face\s*\{[^}]*\}/g, '');
const withoutPictures = rewrite('graphiql/dist/style.css', /url\(['"]?data:image\/[^)]*\)/g, 'none');

// GraphiQL titles its icons, for screen readers and in tooltips, by the names of functions, which minifying shortens.
const withIconNames = rewrite('@graphiql/react/dist/icons/index.js', /generateIcon\((Svg\w+)\)/g, "generateIcon(Object.defineProperty($1, 'name', { value: '$1' }))");

// The dialogs of GraphiQL lock the page's scrolling with a style element, which the policy refuses. The page has nothing to scroll.
const withoutStyleElements = rewrite('react-style-singleton/dist/es2015/singleton.js', /if \(!document\)/, 'if (true)');

// What every route needs is one file, and GraphiQL with its editors another: nothing else of it is worth a request of its own.
const groups = [
  { name: 'shell', priority: 2, test: /preload-helper|node_modules\/(react|react-dom|react-router|scheduler|urql|@urql|@0no-co|wonka|cookie|set-cookie-parser)\// },
  { name: 'sockets', priority: 2, test: /node_modules\/graphql-ws\// },
  { name: 'graphiql', priority: 1, test: /node_modules/ },
];

export default defineConfig({
  plugins: [withoutFonts, withoutPictures, withIconNames, react(), pagePerRoute()],
  build: {
    target: 'es2022',
    sourcemap: false,
    modulePreload: { polyfill: false },
    // An inlined image would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups } } },
    chunkSizeWarningLimit: 1500,
  },
  server: { host: '127.0.0.1', proxy: { '/graphql': { target: SERVER, ws: true, bypass: pageForBrowsers }, '/playground.json': SERVER, '/outbox.json': SERVER, '/click': SERVER } },
});

// A browser that looks at the API gets GraphiQL.
function pageForBrowsers({ method, headers }) {
  return method === 'GET' && headers.accept?.includes('text/html') ? '/index.html' : undefined;
}
