// Two ways to reach the server from Vite's page. Without VITE_WAXWING_URL the page asks its own origin and Vite hands that on: no CORS, and
// the page is deployed behind one host with the server. With it, as in `.env.example`, the page asks the server's origin.
import { defineConfig } from 'vite';

const target = process.env.WAXWING_URL ?? 'http://127.0.0.1:4000';

export default defineConfig({
  server: { host: '127.0.0.1', proxy: { '/graphql': { target, ws: true } } },
});
