import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';

/// From asking for the token to `ready`.
const _connectTimeout = Duration(seconds: 15);

/// Silence after which a connection is dead: a bit over two heartbeats.
const _maxSilentHeartbeats = 2.2;

/// The first reconnect comes within so long; each failure doubles it. Wide, as many clients may lose one instance.
const _minBackoffMs = 5000;
const _maxBackoffMs = 60000;

/// After close codes 42xx, and before a refused subscription is tried again.
const _maxPromptDelayMs = 1000;
const _maxRetryDelayMs = 5000;

/// In one `sub` frame.
const _maxChannels = 50;

/// Channels that are added within so long go in one frame: a socket may send 20 in a second.
const _gatherTime = Duration(milliseconds: 20);

/// The close code of an expired token.
const _expired = 4202;

typedef Json = Map<String, dynamic>;

/// The position to resume from, the newest one, the ids of the frames that were received of it, and the ledger that these
/// belong to.
class _Channel {
  _Channel([this.since, this.ledger]) : newest = since;

  String? since;
  String? newest;
  String? ledger;
  final seen = <String>{};
}

/// Receives the events of channels, each once and in order, over one websocket that it opens again whenever it is lost.
/// Starts paused; another user needs another one. A channel is `one-to-room:{room_uid}`, `user:{id}` or `global`.
class RoomClient {
  RoomClient(
    this.url, {
    required this.token,
    required this.onEvent,
    required this.onState,
    required this.onReload,
    required this.onRefused,
    required this.onStopped,
  });

  final String url;

  /// Answers a valid token, a new one if the last had expired.
  final Future<String> Function(bool isExpired) token;
  final void Function(Json frame) onEvent;

  /// Called with a room for its first screen.
  final void Function(String channel, Json state) onState;

  /// Too much was missed: the room has to be read by REST.
  final void Function(String channel) onReload;

  /// The channel was refused or taken away.
  final void Function(Json frame) onRefused;

  /// Only a log-in or an update helps. The code is that of the close frame or of HTTP.
  final void Function(int code) onStopped;

  final _random = Random();
  final _channels = <String, _Channel>{};

  /// Channels of the current socket whose `subbed` has come.
  final _subscribed = <_Channel>{};

  /// Names that wait for a common frame.
  final _added = <String>{};

  /// Counts attempts, so that what comes of an earlier one is ignored.
  int _attempt = 0;
  WebSocket? _socket;

  /// What positions belong to: another one than before says that the service lost some of what was announced.
  String? _ledger;
  HttpClient? _http;
  bool _isReady = false;
  bool _isPaused = true;
  bool _isStopped = false;
  bool _isExpired = false;
  Duration _maxSilence = _connectTimeout;
  int? _retryMs;
  int _failures = 0;

  /// One timer: the connect timeout, the watchdog of an open connection, or the wait for the next one.
  Timer? _timer;

  /// The user's own channel and `global` need no call.
  void subscribe(String channel) {
    if (_channels.containsKey(channel)) return;
    _channels[channel] = _Channel();
    if (!_isReady) return;
    if (_added.isEmpty) Timer(_gatherTime, _subscribeToAdded);
    _added.add(channel);
  }

  void unsubscribe(String channel) {
    _channels.remove(channel);
    if (_isReady) _send({'t': 'unsub', 'ch': channel});
  }

  /// Connects. Called at the start, and when the app comes to the foreground.
  void resume() {
    if (!_isPaused || _isStopped) return;
    _isPaused = false;
    _open();
  }

  /// Disconnects and keeps the positions. Called when the app goes to the background.
  void pause() {
    _isPaused = true;
    _drop();
  }

  Future<void> _open() async {
    final attempt = ++_attempt;
    _maxSilence = _connectTimeout;
    _wait(_maxSilence, _reconnect);
    try {
      final socket = await _connect(attempt);
      if (socket == null) return;
      if (attempt != _attempt) {
        unawaited(socket.close());
        return;
      }
      _socket = socket;
      void onDone() {
        if (attempt == _attempt) _reconnect(code: socket.closeCode ?? 0);
      }

      socket.listen((text) {
        if (attempt != _attempt) return;
        _wait(_maxSilence, _reconnect);
        _onFrame(jsonDecode(text as String) as Json);
      }, onDone: onDone, onError: (_) => onDone(), cancelOnError: true);
    } on Exception {
      if (attempt == _attempt) _reconnect();
    }
  }

  /// Asks for the upgrade itself: `WebSocket.connect` would hide the answer's Retry-After. Null when it was refused.
  Future<WebSocket?> _connect(int attempt) async {
    final bearer = await token(_isExpired);
    if (attempt != _attempt) return null;
    final http = _http = HttpClient();
    final request = await http.getUrl(Uri.parse(url.replaceFirst('ws', 'http')));
    request.headers
      ..set('Connection', 'Upgrade')
      ..set('Upgrade', 'websocket')
      ..set('Sec-WebSocket-Version', '13')
      ..set('Sec-WebSocket-Key', base64.encode(List.generate(16, (_) => _random.nextInt(256))))
      ..set('Authorization', 'Bearer $bearer');
    final response = await request.close();
    if (response.statusCode == HttpStatus.switchingProtocols) {
      return WebSocket.fromUpgradedSocket(await response.detachSocket(), serverSide: false);
    }
    if (attempt != _attempt) return null;
    final status = response.statusCode;
    if (const [401, 403, 426].contains(status)) {
      _stop(status);
    } else if (status == 440) {
      _reconnect(code: _expired);
    } else {
      _reconnect(retryAfter: int.tryParse(response.headers.value('Retry-After') ?? '') ?? 0);
    }
    return null;
  }

  void _onFrame(Json frame) {
    final channel = _channels[frame['ch']];
    final type = frame['t'];
    if (type == 'ready') {
      _onReady(frame);
    } else if (type == 'hb') {
      _onHeartbeat();
    } else if (type == 'bye') {
      _retryMs = frame['retry_ms'] as int;
    } else if (type == 'ev') {
      _onEvent(channel, frame);
    } else if (type == 'subbed' && channel != null) {
      _onSubscribed(channel, frame);
    } else if (frame['code'] != null && channel != null) {
      _onRefused(frame);
    }
  }

  void _onReady(Json frame) {
    _isReady = true;
    _isExpired = false;
    _ledger = frame['ledger'] as String;
    _maxSilence = Duration(milliseconds: ((frame['heartbeat'] as num) * 1000 * _maxSilentHeartbeats).round());
    _wait(_maxSilence, _reconnect);
    _channels.putIfAbsent('user:${frame['user_id']}', () => _Channel(frame['position'] as String, _ledger));
    _subscribeTo(_channels.keys.toList());
  }

  void _subscribeToAdded() {
    final names = _added.where(_channels.containsKey).toList();
    _added.clear();
    if (_isReady) _subscribeTo(names);
  }

  void _subscribeTo(List<String> names) {
    Json request(String name) {
      final since = _channels[name]?.since;
      return since == null ? {'ch': name, 'state': true} : {'ch': name, 'since': since};
    }

    // One for all channels of a frame: a channel may have missed that the ledger is another one.
    String? ledgerOf(String name) => _channels[name]?.ledger ?? _ledger;
    for (final ledger in names.map(ledgerOf).toSet()) {
      final group = names.where((name) => ledgerOf(name) == ledger).toList();
      for (var at = 0; at < group.length; at += _maxChannels) {
        final chunk = group.sublist(at, min(at + _maxChannels, group.length));
        _send({'t': 'sub', 'ledger': ledger, 'chs': chunk.map(request).toList()});
      }
    }
  }

  void _advance(_Channel channel, String position, String resumeFrom) {
    channel.newest = position;
    channel.since = resumeFrom;
    channel.ledger = _ledger;
    channel.seen.clear();
  }

  void _onHeartbeat() {
    _failures = 0;
    // The newest event has come as a whole, so that it need not be sent again.
    for (final channel in _subscribed) {
      channel.since = channel.newest;
    }
  }

  void _onSubscribed(_Channel channel, Json frame) {
    _subscribed.add(channel);
    final name = frame['ch'] as String;
    final position = frame['position'] as String;
    final isResumed = frame['resumed'] as bool;
    if (!isResumed || channel.since == null) _advance(channel, position, position);
    if (!isResumed) onReload(name);
    final state = frame['state'] as Json?;
    if (state != null) onState(name, state);
  }

  void _onEvent(_Channel? channel, Json frame) {
    if (channel == null && frame['ch'] != 'global') return;
    final id = frame['id'] as String?;
    // State, such as wallet-changed, has no id.
    if (channel != null && id != null) {
      if (channel.seen.contains(id)) return;
      final position = frame['position'] as String;
      // The connection may break between two frames of one event: until the next heartbeat it is asked for again.
      if (position != channel.newest) _advance(channel, position, frame['prev'] as String? ?? '0');
      channel.seen.add(id);
    }
    onEvent(frame);
  }

  void _onRefused(Json frame) {
    final name = frame['ch'] as String;
    if (frame['retry'] != true) {
      _channels.remove(name);
      onRefused(frame);
      return;
    }
    final attempt = _attempt;
    Timer(_randomWithin(_maxRetryDelayMs), () {
      if (attempt == _attempt && _isReady && _channels.containsKey(name)) _subscribeTo([name]);
    });
  }

  /// `code` is that of the close frame, if one came; `retryAfter` is in seconds.
  void _reconnect({int code = 0, int retryAfter = 0}) {
    if (code >= 4000 && code < 4100) return _stop(code);
    _drop();
    if (code == _expired) _isExpired = true;
    final isPrompt = code >= 4200 && code < 4300 && _failures == 0;
    final within = isPrompt ? _maxPromptDelayMs : min(_maxBackoffMs, _minBackoffMs << min(_failures, 6));
    final retryMs = _retryMs;
    // The service has spread retry_ms over its clients itself.
    final delay = retryMs == null
        ? Duration(seconds: retryAfter) + _randomWithin(within)
        : Duration(milliseconds: retryMs);
    _wait(delay, _open);
    _failures += 1;
    _retryMs = null;
  }

  void _stop(int code) {
    _drop();
    _isStopped = true;
    onStopped(code);
  }

  /// Does not wait for the close frame of a connection that may be dead.
  void _drop() {
    _attempt += 1;
    _timer?.cancel();
    _isReady = false;
    _subscribed.clear();
    unawaited(_socket?.close());
    _socket = null;
    _http?.close(force: true);
    _http = null;
  }

  void _wait(Duration delay, void Function() action) {
    _timer?.cancel();
    _timer = Timer(delay, action);
  }

  void _send(Json frame) => _socket?.add(jsonEncode(frame));

  Duration _randomWithin(int ms) => Duration(milliseconds: _random.nextInt(ms));
}
