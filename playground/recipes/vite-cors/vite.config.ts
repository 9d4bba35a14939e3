// Two ways to reach the server from Vite's page. Without VITE_WAXWING_URL the page sends requests to its own origin, and Vite forwards them: no CORS, and
// page and server are deployed on one host. With it, as in `.env.example`, the page sends requests to the server's origin.
import { defineConfig } from 'vite';

const target = process.env.WAXWING_URL ?? 'http://127.0.0.1:4000';

export default defineConfig({
  server: { host: '127.0.0.1', proxy: { '/graphql': { target, ws: true } } },
});
