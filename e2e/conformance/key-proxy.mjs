// The suites cannot send headers of their own. This stands between them and a server that asks
// for a key: it adds the key to every request and changes nothing else, Host and streams included.
//
//   RUTTER_KEY=… node key-proxy.mjs http://127.0.0.1:PORT/mcp     prints the endpoint to use instead
import http from 'node:http';

const target = new URL(process.argv[2]);
const key = process.env.RUTTER_KEY;

const proxy = http.createServer((request, response) => {
  const forwarded = http.request({
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.url,
    headers: [...request.rawHeaders, 'X-API-Key', key],
    setHost: false,
  });
  forwarded.on('response', (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
    // An event stream may have nothing to say for a long time.
    response.flushHeaders();
    answer.on('error', () => response.destroy());
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  // Whoever hangs up here, hangs up there: a server must see it.
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
});

// A request that is odd on purpose gets the server's answer or none, never the proxy's.
proxy.on('clientError', (_, socket) => socket.destroy());
proxy.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${proxy.address().port}${target.pathname}`);
});
